"""One structure that was fitted, and what is kept of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bokern import hyperpriors
from bokern.evidence import Evidence
from bokern.fitting import FitResult
from bokern.models import StructuredGP
from bokern.structures import Structure


@dataclass(frozen=True)
class Settings:
    """How the structures were fitted; see `compare`."""

    starts: int = 8
    seed: int = 0
    mean: str = "constant"
    standardize: bool = True

    def options(self) -> dict[str, Any]:
        """As keywords of `bokern.build.unfitted`."""
        return asdict(self)


@dataclass(frozen=True)
class Candidate:
    """One structure that was fitted.

    Args:
        structure: As given.
        evidence: Its log evidence and diagnostics.
        fit: Its hyperparameters in unconstrained coordinates, and how they were found.
        hyperparameters: Name, prior and fitted value of each.
    """

    structure: Structure
    evidence: Evidence
    fit: FitResult
    hyperparameters: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(
        cls, structure: Structure, model: StructuredGP, evidence: Evidence
    ) -> Candidate:
        """What is kept of a fitted model."""
        assert model.fit_result is not None
        return cls(
            structure, evidence, model.fit_result, describe_hyperparameters(model)
        )


def describe_hyperparameters(model: StructuredGP) -> tuple[tuple[str, str, str], ...]:
    """Name, prior and fitted value of each hyperparameter, in the model's units."""
    priors: dict[str, str] = {}
    for child in ("mean_module", "covar_module", "likelihood"):
        for name, _, prior, _, _ in getattr(model, child).named_priors():
            key = f"{child}.{name}".replace("_prior", "").replace(
                "mean_module.mean", "mean_module.constant"
            )
            priors[key] = hyperpriors.describe(prior)
    objective = model.log_posterior()
    rows = []
    for name, value in objective.values(objective.get()).items():
        key = name.replace("raw_", "")
        shown = ", ".join(f"{v:.4g}" for v in value.flatten().tolist())
        prior = priors.get(key, "none")
        if key == "likelihood.noise_covar.noise":
            prior = f"{hyperpriors.NOISE_FLOOR:g} + {prior}"
        rows.append((_short(key), prior, shown))
    return tuple(rows)


def _short(name: str) -> str:
    for long, short in (
        ("covar_module.", ""),
        ("likelihood.noise_covar.", ""),
        ("mean_module.constant", "mean"),
        ("base_kernel.", ""),
        ("kernels.", ""),
    ):
        name = name.replace(long, short)
    return name
