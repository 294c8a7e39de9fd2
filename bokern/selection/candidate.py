"""One structure that was fitted, and what is kept of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bokern import hyperpriors
from bokern.evidence import Evidence
from bokern.fitting import FitResult
from bokern.kernels import StructureKernel
from bokern.models import StructuredGP
from bokern.models.outcome import read_outcome
from bokern.structures import Structure


@dataclass(frozen=True)
class Settings:
    """How the structures were fitted; see `compare`.

    The outcome's text is resolved: with its power, and never ``"auto"``.
    """

    starts: int = 8
    seed: int = 0
    mean: str = "constant"
    standardize: bool = True
    outcome: str = "identity"

    def __post_init__(self) -> None:
        read_outcome(self.outcome)

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
    rows, parts = [], []
    for name, value in objective.values(objective.get()).items():
        key = name.replace("raw_", "")
        shown = ", ".join(f"{v:.4g}" for v in value.flatten().tolist())
        prior = priors.get(key, "none")
        if key == "likelihood.noise_covar.noise":
            prior = f"{hyperpriors.NOISE_FLOOR:g} + {prior}"
        path, _, parameter = key.rpartition(".")
        rows.append(({"constant": "mean"}.get(parameter, parameter), prior, shown))
        parts.append(_part(model, path))
    if len({part for part in parts if part}) < 2:
        return tuple(rows)
    names = _numbered(
        [f"{p}: {row[0]}" if p else row[0] for p, row in zip(parts, rows, strict=True)]
    )
    return tuple(
        (name, prior, shown)
        for name, (_, prior, shown) in zip(names, rows, strict=True)
    )


def _part(model: StructuredGP, path: str) -> str:
    """The part of the kernel that a parameter belongs to, if it is one of a kernel."""
    if not path.startswith("covar_module"):
        return ""
    module = model.get_submodule(path)
    assert isinstance(module, StructureKernel)
    return module.label


def _numbered(names: list[str]) -> list[str]:
    """Names made distinct by a number behind the second and further of a kind."""
    counts = [names[:i].count(name) for i, name in enumerate(names)]
    return [f"{n} (#{c + 1})" if c else n for n, c in zip(names, counts, strict=True)]
