"""One number on one scale, with all that is needed to trust it."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import Any

from bokern.errors import ComparisonError, EvidenceWarning, StorageError

FLAGS = MappingProxyType(
    {
        "NOT_AT_OPTIMUM": "the gradient is not zero, or the Hessian not negative "
        "definite: the Laplace approximation is not to be trusted",
        "AT_BOUND": "a hyperparameter lies at the optimiser's bound",
        "NESTED_VIOLATION": "it scored below a structure that it contains: the "
        "optimiser failed",
        "ONE_HIT": "a single start found the best optimum: there may be a better one",
        "BLIND": "the inputs do not test the invariance: with and without it the model "
        "predicts nearly the same data (below 1 nat)",
    }
)
"""What a flag means."""


@dataclass(frozen=True)
class Evidence:
    """The log evidence of one structure on one data set.

    Args:
        log_evidence: Nats, of the raw targets.
        inference: How f is integrated: ``"exact"``, or ``"moment-matched"`` under a
            deep prior of three layers or more, which its first moments stand for.
        integration: How θ is: ``"map"`` (plugged in), ``"laplace"`` or ``"smc"``.
        standard_error: Of a sampled estimate, nats; 0 for deterministic ones.
        lower: Bounds or an interval, nats; equal to the value where there is none.
        upper: See ``lower``.
        n_hyperparameters: Dimension of θ, k.
        effective_hyperparameters: How many the data determine beyond their prior.
        log_jacobian: What the outcome transform contributes, nats; contained in
            ``log_evidence``.
        data_fingerprint: Of the raw inputs and targets.
        likelihood: Its kind; evidences under different ones do not compare.
        restarts: Optimisations behind the optimum.
        restart_hits: How many of them found it.
        hessian_min_eigenvalue: Smallest eigenvalue of the negative Hessian, whitened
            by the prior; 1 is the prior's own curvature.
        gradient_norm: Of the objective at the optimum.
        seconds: Wall time of all work on the structure: fits, evidence and sampling,
            and in a search first looks too.
        seed: Of the starts.
        flags: Names from ``FLAGS``.
        bic: ``log p(y | θ) − (k/2) log n``, nats; reported, never searched on.
        leave_one_out: Summed leave-one-out log predictive density, nats.
    """

    log_evidence: float
    inference: str
    integration: str
    standard_error: float
    lower: float
    upper: float
    n_hyperparameters: int
    effective_hyperparameters: float
    log_jacobian: float
    data_fingerprint: str
    likelihood: str
    restarts: int
    restart_hits: int
    hessian_min_eigenvalue: float
    gradient_norm: float
    seconds: float
    seed: int
    flags: tuple[str, ...] = ()
    bic: float = float("nan")
    leave_one_out: float = float("nan")

    @property
    def kind(self) -> str:
        """Inference and integration in one word, such as ``exact/laplace``."""
        return f"{self.inference}/{self.integration}"

    def __sub__(self, other: Evidence) -> float:
        """The gap in nats.

        Raises:
            ComparisonError: If the two speak of different data or likelihoods.
        """
        for name in ("data_fingerprint", "likelihood"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ComparisonError(
                    f"evidences with different {name.replace('_', ' ')} do not "
                    f"compare ({mine!r} and {theirs!r}): compute both on the same "
                    "data and with the same likelihood"
                )
        if self.kind != other.kind:
            warnings.warn(
                f"evidences of kinds {self.kind} and {other.kind} are on one scale but "
                "not of one accuracy",
                EvidenceWarning,
                stacklevel=2,
            )
        return self.log_evidence - other.log_evidence

    def to_json(self) -> dict[str, Any]:
        """A JSON document that `from_json` reads back."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Evidence:
        """Reads what `to_json` wrote.

        Raises:
            StorageError: If fields are missing or unknown.
        """
        expected = {f.name for f in fields(cls)}
        if not isinstance(document, dict) or set(document) != expected:
            raise StorageError(
                f"a stored evidence has the fields {sorted(expected)}, got "
                f"{document!r:.200}"
            )
        for field in fields(cls):
            kind = _JSON_TYPES.get(str(field.type))
            value = document[field.name]
            huge = isinstance(value, int) and abs(value) > LARGEST_COUNT
            if kind is not None and (not isinstance(value, kind) or huge):
                raise StorageError(
                    f"a stored evidence has a {field.type} as {field.name}, got "
                    f"{value!r:.60}"
                )
        return cls(**document | {"flags": tuple(document["flags"])})


LARGEST_COUNT = 2**53
"""Of what can be counted; larger whole numbers are no floating-point numbers."""

_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "float": (int, float),
    "int": (int,),
    "str": (str,),
}


AVERAGE_WITHIN = 5.0
"""Nats below which a preference is not strong: such structures are averaged."""


def preference(gap: float) -> str:
    """A gap in nats in words: no preference, weak, moderate or strong."""
    for limit, word in ((1.0, "no"), (3.0, "a weak"), (AVERAGE_WITHIN, "a moderate")):
        if abs(gap) < limit:
            return f"{word} preference"
    return "a strong preference"
