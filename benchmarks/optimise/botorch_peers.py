"""Peers in plain BoTorch: Sobol, a GP with LogEI, and the same with a warp."""

from __future__ import annotations

import torch
from botorch import fit_gpytorch_mll
from botorch.acquisition import LogExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import InputTransform, Warp
from botorch.models.transforms.outcome import Standardize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood
from gpytorch.priors import LogNormalPrior
from torch import Tensor

from benchmarks.optimise.coding import from_unit, to_unit
from benchmarks.optimise.initial import sobol_points
from benchmarks.optimise.recorder import Recorder
from benchmarks.optimise.target import Parameters, parameters_of


def run_sobol(objective: Recorder, initial: list[Parameters], seed: int) -> None:
    """The Sobol sequence that the initial points begin, continued."""
    points = sobol_points(objective.problem, objective.budget, seed)
    if points[: len(initial)] != initial:
        raise ValueError("the initial points do not begin the Sobol sequence")
    for point in points:
        objective(point)


def run_logei(objective: Recorder, initial: list[Parameters], seed: int) -> None:
    """SingleTaskGP with its default priors and LogEI."""
    _loop(objective, initial, seed, warp=False)


def run_warp(objective: Recorder, initial: list[Parameters], seed: int) -> None:
    """The same with a Kumaraswamy warp of each input, as BoTorch's tutorial sets it."""
    _loop(objective, initial, seed, warp=True)


def _loop(
    objective: Recorder, initial: list[Parameters], seed: int, warp: bool
) -> None:
    torch.manual_seed(seed)
    parameters = parameters_of(objective.problem)
    rows = [to_unit(parameters, point) for point in initial]
    X = torch.tensor(rows, dtype=torch.float64)
    Y = torch.tensor([[-objective(point)] for point in initial], dtype=torch.float64)
    while len(Y) < objective.budget:
        x = _suggest(X, Y, _warp(len(parameters)) if warp else None)
        point = from_unit(parameters, x.squeeze(0).tolist())
        value = objective(point)
        X = torch.cat([X, X.new_tensor([to_unit(parameters, point)])])
        Y = torch.cat([Y, Y.new_tensor([[-value]])])


def _suggest(X: Tensor, Y: Tensor, input_transform: InputTransform | None) -> Tensor:
    model = SingleTaskGP(
        X,
        Y,
        outcome_transform=Standardize(m=1),
        input_transform=input_transform,
    )
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    unit = torch.stack([torch.zeros_like(X[0]), torch.ones_like(X[0])])
    candidate, _ = optimize_acqf(
        LogExpectedImprovement(model, best_f=Y.max()),
        bounds=unit,
        q=1,
        num_restarts=10,
        raw_samples=512,
    )
    return candidate.detach()


def _warp(dim: int) -> Warp:
    prior = LogNormalPrior(0.0, 0.75**0.5)
    return Warp(
        d=dim,
        indices=list(range(dim)),
        concentration1_prior=prior,
        concentration0_prior=prior,
    )
