"""Ax's description of the models that stand for weighted structures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ax.adapter.registry import Generators
from ax.generation_strategy.generator_spec import GeneratorSpec
from ax.generators.torch.botorch_modular.surrogate import SurrogateSpec
from ax.generators.torch.botorch_modular.utils import ModelConfig
from botorch.models.model import ModelList

from bokern.ax.feasible import FeasibleAcquisition
from bokern.ax.record import Thetas, Weights
from bokern.ax.training import Unfitted, surrogate_of
from bokern.models import MixtureGP, StructuredGP

REFIT_STARTS = 4
"""Optimisations per structure at each trial; comparisons use more."""


def model_config(
    chosen: Weights, seed: int, warm: Mapping[str, list[float]] | None = None
) -> ModelConfig:
    """One structure's model, or the mixture of several.

    Args:
        chosen: Structures by their text, columns by name, with their weights.
        seed: Seed of the starts of the fit.
        warm: Hyperparameters to start from, by the structures' text.
    """
    known = warm or {}
    if len(chosen) == 1:
        (text,) = chosen
        return ModelConfig(
            botorch_model_class=StructuredGP,
            model_options={
                "structure": text,
                "seed": seed,
                "starts": REFIT_STARTS,
                "warm": known.get(text),
            },
            name=f"bokern:{text}",
        )
    return ModelConfig(
        botorch_model_class=MixtureGP,
        model_options={
            "structures": list(chosen),
            "weights": list(chosen.values()),
            "seed": seed,
            "starts": REFIT_STARTS,
            "warm": [known.get(text) for text in chosen],
        },
        name=f"bokern:mixture of {', '.join(chosen)}",
    )


def structured_generator(
    by_metric: Mapping[str, Weights],
    otherwise: Weights,
    warm: Thetas,
    seed: int,
    generator_kwargs: Mapping[str, Any],
    gen_kwargs: Mapping[str, Any] | None = None,
) -> GeneratorSpec:
    """A generator with a structured model for each metric.

    Args:
        by_metric: Structures of each metric, by the metric's signature.
        otherwise: Structures of metrics that are not named.
        warm: For each metric hyperparameters to start from, by the structures' text.
        seed: Seed of the starts of the fits.
        generator_kwargs: Further arguments of Ax's BoTorch generator.
        gen_kwargs: Arguments of its ``gen``.
    """
    spec = SurrogateSpec(
        model_configs=[model_config(otherwise, seed)],
        metric_to_model_configs={
            metric: [model_config(chosen, seed, warm.get(metric))]
            for metric, chosen in by_metric.items()
        },
        allow_batched_models=False,
    )
    return GeneratorSpec(
        Generators.BOTORCH_MODULAR,
        generator_kwargs={
            "acquisition_class": FeasibleAcquisition,
            **generator_kwargs,
            "surrogate_spec": spec,
        },
        generator_gen_kwargs=dict(gen_kwargs or {}),
    )


def fitted_thetas(spec: GeneratorSpec, chosen: Mapping[str, Weights]) -> Thetas:
    """Fitted hyperparameters of the structures chosen for each metric.

    Args:
        spec: A fitted generator.
        chosen: Structures of each metric.
    """
    surrogate = surrogate_of(spec.fitted_adapter)
    model = surrogate.model
    models = list(model.models) if isinstance(model, ModelList) else [model]
    found: Thetas = {}
    for metric, one in zip(surrogate.outcomes, models, strict=False):
        members = list(one.members) if isinstance(one, MixtureGP) else [one]
        texts = chosen.get(metric, {})
        if len(members) == len(texts):
            found[metric] = {
                text: member.theta().tolist()
                for text, member in zip(texts, members, strict=True)
                if isinstance(member, StructuredGP)
            }
    return found


def data_generator(generator_kwargs: Mapping[str, Any]) -> GeneratorSpec:
    """A generator that sees the same data as a structured one and fits nothing.

    Args:
        generator_kwargs: Further arguments of Ax's BoTorch generator.
    """
    spec = SurrogateSpec(
        model_configs=[ModelConfig(botorch_model_class=Unfitted)],
        allow_batched_models=False,
    )
    return GeneratorSpec(
        Generators.BOTORCH_MODULAR,
        generator_kwargs={**generator_kwargs, "surrogate_spec": spec},
    )


def sobol_generator(seed: int, key: str | None = None) -> GeneratorSpec:
    """A generator of scrambled Sobol points."""
    return GeneratorSpec(
        Generators.SOBOL,
        generator_kwargs={"seed": seed},
        generator_key_override=key,
    )
