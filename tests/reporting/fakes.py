"""A comparison and an optimisation with the public attributes, quick to make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch
from botorch.models.transforms import Normalize
from pandas import DataFrame
from torch import Tensor
from torch.quasirandom import SobolEngine

from bokern.inputs import Observations
from bokern.models import StructuredGP
from bokern.optimize import Trial
from bokern.optimize.constraints import Linear
from bokern.optimize.space import Parameter, read_space
from bokern.selection.attempt import Attempt
from bokern.selection.component import Parts
from bokern.selection.explanation import Explanation
from bokern.selection.verdict import Rival

HOSTILE = '<script>alert(1)</script><a href="http://x.example">y</a>%{x}'


@dataclass
class FakeComparison:
    """What the reports read of a Comparison; its model is not fitted."""

    X: Tensor
    y: Tensor
    column_names: tuple[str, ...]
    target_name: str = "passengers"
    statement: str = "Strong preference (12.3 nats) for Matern(2.5) over RBF()."
    notes: tuple[str, ...] = ("bounds taken from the range of the data",)
    failures: tuple[tuple[str, str], ...] = (("Linear()", "no start led to a fit"),)
    seed: int = 0
    trace: tuple[Attempt, ...] = ()
    structure: str = "Linear() + RBF()"
    bounds: Tensor = field(init=False)
    table: DataFrame = field(init=False)
    priors: DataFrame = field(init=False)
    evidences: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.bounds = torch.stack([self.X.amin(0), self.X.amax(0)])
        texts = ["Matern(2.5)", "RBF()", "DeepSE()", "Kumaraswamy(Matern(2.5))"]
        self.table = DataFrame(
            {
                "structure": texts,
                "log_evidence": [-10.0, -22.3, -23.0, -31.0],
                "standard_error": [0.2, 0.2, 0.3, float("nan")],
                "gap": [0.0, -12.3, -13.0, -21.0],
                "log_prior": [-1.4, -1.4, -1.1, -1.1],
                "probability": [0.9999, 1e-5, 1e-6, 0.0],
                "family": ["stationary", "stationary", "deep", "warped"],
                "hyperparameters": [4, 4, 6, 6],
                "effective_hyperparameters": [3.1, 3.2, 4.0, 4.9],
                "bic": [-12.0, -24.0, -26.0, -33.0],
                "leave_one_out": [-8.0, -15.0, -16.0, -20.0],
                "flags": ["", "", "ONE_HIT", "AT_BOUND NOT_AT_OPTIMUM"],
                "seconds": [1.0, 0.9, 3.0, 2.0],
            }
        )
        self.priors = DataFrame(
            {
                "structure": ["Matern(2.5)", "Matern(2.5)", "RBF()"],
                "hyperparameter": ["lengthscale", "noise", "lengthscale"],
                "prior": ["LogNormal(1.41, 1.73)"] * 3,
                "fitted": ["0.31", "0.001", "0.27"],
            }
        )
        self.evidences = [
            SimpleNamespace(
                data_fingerprint="9f" * 8,
                likelihood="gaussian",
                inference="exact",
                integration="laplace",
                restarts=8,
            )
            for _ in texts
        ]

    def model(self, structure: Any = None, average: bool = False) -> StructuredGP:
        d = self.X.shape[-1]
        model = StructuredGP(
            self.X,
            self.y.unsqueeze(-1),
            input_transform=Normalize(d, bounds=self.bounds),
            structure=structure or "Matern(2.5)",
        )
        model.target_name = self.target_name
        return model.eval()

    def explain(self) -> Explanation:
        """Of the model before it is fitted, with a verdict that is made up."""
        names = self.column_names
        data = Observations(self.X, self.y, self.bounds, None, names, self.target_name)
        parts = Parts(self.model(self.structure), data, self.X[0])
        return Explanation(
            structure=str(self.table["structure"][0]),
            data=data,
            rows=len(self.y),
            units=parts.units,
            components=parts.components(),
            constant=parts.constant,
            noise_sd=parts.noise_sd,
            noise_share=parts.shares.noise,
            shared=parts.shares.shared,
            residual=parts.residual,
            reference=self.X[0],
            probability=0.9,
            rival=Rival(
                "RBF()", 12.3, False, 0.2, "a strong preference", ("smc", "smc")
            ),
            flags=(),
            tried="4 structures were compared.",
        )


@dataclass
class FakeOptimization:
    """What the reports read of an OptimizationResult."""

    trials: DataFrame
    best_parameters: dict[str, Any]
    best_value: float
    comparison: FakeComparison | None = None
    optimum: float | None = None
    space: dict[str, Any] = field(default_factory=lambda: {"input 0": (0.0, 1.0)})
    notes: tuple[str, ...] = ()
    seed: int = 0
    structure_history: DataFrame = field(default_factory=DataFrame)
    leaderboard: DataFrame = field(default_factory=DataFrame)
    objectives: dict[str, str] = field(default_factory=lambda: {"value": "minimize"})
    outcome_constraints: tuple[Linear, ...] = ()
    pareto: tuple[Trial, ...] = ()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return read_space(self.space)


def make_comparison(d: int, n: int = 30, **changes: Any) -> FakeComparison:
    generator = torch.Generator().manual_seed(0)
    X = 10 * torch.rand(n, d, generator=generator, dtype=torch.float64)
    noise = torch.randn(n, generator=generator, dtype=torch.float64)
    y = 100 + 20 * torch.sin(X[:, 0]) + X.sum(-1) + 0.5 * noise
    names = tuple(f"input {column}" for column in range(d))
    return FakeComparison(X, y, **{"column_names": names, **changes})


def make_trace() -> tuple[Attempt, ...]:
    """A search of five structures in one round of expansion."""
    return (
        Attempt("RBF()", "", "", 0, -31.0, "converged", 9000, 0.4),
        Attempt("Linear()", "", "", 0, -140.0, "pruned", 800, 0.1),
        Attempt("DeepSE()", "", "", 0, None, "failed", 10, 0.0),
        Attempt(
            "Linear() + RBF()", "RBF()", "add Linear()", 1, -22.0, "finalist", 1, 2
        ),
        Attempt(
            "Periodic() + RBF()", "RBF()", "add it", 1, -30.0, "scouted", 1500, 0.2
        ),
    )


def make_history() -> DataFrame:
    """Structures by trial, compared at trials 4 and 6."""
    names, rows = ("RBF()", "DeepSE()", "Linear()"), []
    for trial in range(4, 8):
        at = 4 if trial < 6 else 6
        weights = (0.5, 0.3, 0.2) if at == 4 else (0.9, 0.1)
        for name, weight in zip(names, weights, strict=False):
            rows.append((trial, "objective", name, weight, -1.0, 0.0, at))
    columns = ["trial", "metric", "structure", "probability", "log_evidence"]
    return DataFrame(rows, columns=[*columns, "standard_error", "searched_at"])


def make_optimization(**changes: Any) -> FakeOptimization:
    values = [3.0, 2.0, float("nan"), 2.5, 0.4, 0.1, 0.3, 0.02]
    status = ["failed" if value != value else "completed" for value in values]
    trials = DataFrame(
        {
            "trial": range(len(values)),
            "input 0": [0.1 * index for index in range(len(values))],
            "value": values,
            "status": status,
            "generator": ["sobol"] * 4 + ["RBF()"] * 2 + ["Matern(2.5)"] * 2,
            "structure": [""] * 4 + ["RBF()"] * 2 + ["Matern(2.5)"] * 2,
            "seconds": [0.1] * len(values),
        }
    )
    fields = {"trials": trials, "best_parameters": {"input 0": 0.7}, "best_value": 0.02}
    return FakeOptimization(**{**fields, **changes})


def make_course(
    space: dict[str, Any],
    f: Callable[[dict[str, Any]], float | dict[str, float]],
    n: int = 30,
    failed: Sequence[int] = (),
    **changes: Any,
) -> FakeOptimization:
    """An optimisation that evaluated a function at n points of a scrambled sequence."""
    parameters = read_space(space)
    units = SobolEngine(len(parameters), scramble=True, seed=1).draw(n).tolist()
    rows = []
    for trial, row in enumerate(units):
        point = {p.name: p.at(u) for p, u in zip(parameters, row, strict=True)}
        values = f(point)
        values = values if isinstance(values, dict) else {"value": values}
        status = "completed"
        if trial in failed:
            values, status = dict.fromkeys(values, float("nan")), "failed"
        told = {"status": status, "generator": "sobol", "structure": "", "seconds": 0.1}
        rows.append({"trial": trial, **point, **values, **told, "reason": ""})
    trials = DataFrame(rows)
    fields = {"trials": trials, "space": space, "best_parameters": {}}
    fields["best_value"] = float("nan")
    return FakeOptimization(**{**fields, **changes})
