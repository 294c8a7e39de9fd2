"""Ax's description of the models that stand for weighted structures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ax.adapter.registry import Generators
from ax.generation_strategy.generator_spec import GeneratorSpec
from ax.generators.torch.botorch_modular.surrogate import SurrogateSpec
from ax.generators.torch.botorch_modular.utils import ModelConfig

from bokern.ax.record import Weights
from bokern.ax.training import Unfitted
from bokern.models import MixtureGP, StructuredGP

REFIT_STARTS = 4
"""Optimisations per structure at each trial; comparisons use more."""


def model_config(chosen: Weights, seed: int) -> ModelConfig:
    """One structure's model, or the mixture of several.

    Args:
        chosen: Structures by their text, columns by name, with their weights.
        seed: Seed of the starts of the fit.
    """
    if len(chosen) == 1:
        (text,) = chosen
        return ModelConfig(
            botorch_model_class=StructuredGP,
            model_options={"structure": text, "seed": seed, "starts": REFIT_STARTS},
            name=f"bokern:{text}",
        )
    return ModelConfig(
        botorch_model_class=MixtureGP,
        model_options={
            "structures": list(chosen),
            "weights": list(chosen.values()),
            "seed": seed,
            "starts": REFIT_STARTS,
        },
        name=f"bokern:mixture of {', '.join(chosen)}",
    )


def structured_generator(
    by_metric: Mapping[str, Weights],
    otherwise: Weights,
    seed: int,
    generator_kwargs: Mapping[str, Any],
) -> GeneratorSpec:
    """A generator with a structured model for each metric.

    Args:
        by_metric: Structures of each metric, by the metric's signature.
        otherwise: Structures of metrics that are not named.
        seed: Seed of the starts of the fits.
        generator_kwargs: Further arguments of Ax's BoTorch generator.
    """
    spec = SurrogateSpec(
        model_configs=[model_config(otherwise, seed)],
        metric_to_model_configs={
            metric: [model_config(chosen, seed)] for metric, chosen in by_metric.items()
        },
        allow_batched_models=False,
    )
    return GeneratorSpec(
        Generators.BOTORCH_MODULAR,
        generator_kwargs={**generator_kwargs, "surrogate_spec": spec},
    )


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
