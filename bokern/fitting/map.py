"""Multi-start maximisation of the log posterior."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
import torch
from botorch.optim.batched_lbfgs_b import fmin_l_bfgs_b_batched
from torch import Tensor

from bokern import seeding
from bokern.errors import FitError
from bokern.fitting.hints import advised_starts, waiting
from bokern.fitting.log_posterior import LogPosterior
from bokern.fitting.starts import draw_starts, on_some_rows, screen_starts

LOG_BOX = (-16.0, 10.0)
"""Box of the log coordinates: wide enough to hold any interior optimum under the
priors; only an objective without them runs into it."""

FREE_BOX = (-100.0, 100.0)
BATCHED_BELOW = 200
"""Below this many observations, restarts run in batches; above, one by one."""

BATCH_ELEMENTS = 2**21
"""Kernel evaluations in a batch of restarts: about .7 GB of autograd."""

EXPLORE_ABOVE, EXPLORED, EXPLORE_ITERATIONS = 9, 4, 15
"""Above so many coordinates, so many times more starts are optimised for so many
iterations, and the best go on: SE × periodic + SE + RQ on log-airline, with 10, is so
found from 10 of 10 seeds; at its MAP one of two seeds missed it by 33 nats without."""

KEPT = 2
"""Starts that go on from where a part of the rows has led, where one is looked at."""

LBFGS_GRADIENT, LBFGS_FACTOR = 1e-3, 1e9
"""L-BFGS stops early, at 2e-7 of relative change: Newton steps finish the best."""

LAST_ITERATIONS, LAST_FACTOR = 200, 10.0
"""Of the last optimisation where Newton steps would take too long."""

MAX_ITERATIONS = 500
GRADIENT_TOLERANCE = 1e-6
SAME_OPTIMUM = 0.05
"""Nats within which two restarts have found the same optimum."""

UNUSABLE = 1e10
NEWTON_STEPS = 30


@dataclass(frozen=True)
class FitResult:
    """What a fit found, and how.

    Args:
        theta: The best θ, ``k``.
        objective: Log posterior there (log likelihood for ``"ml"``), nats.
        log_likelihood: ``log p(z | X, θ)`` there, nats of the model's targets.
        gradient_norm: Euclidean norm of the objective's gradient there, over the
            coordinates that are not at a bound.
        at_bound: Names of coordinates at the box of the optimiser.
        restarts: Number of optimisations.
        restart_hits: How many ended within ``SAME_OPTIMUM`` of the best.
        evaluations: Number of likelihood evaluations.
        seconds: Wall time.
        seed: Seed of the starts.
        objective_name: ``"map"`` or ``"ml"``.
    """

    theta: tuple[float, ...]
    objective: float
    log_likelihood: float
    gradient_norm: float
    at_bound: tuple[str, ...]
    restarts: int
    restart_hits: int
    evaluations: int
    seconds: float
    seed: int
    objective_name: str


def fit_map(
    objective: LogPosterior,
    *,
    starts: int = 8,
    seed: int = 0,
    warm: Tensor | None = None,
) -> FitResult:
    """Maximises the objective of one data set and leaves the modules at the best θ.

    Screened starts and any warm ones are optimised by L-BFGS; the best is polished by
    Newton steps.

    Args:
        objective: Without batch dimensions.
        starts: How many screened starts to optimise.
        seed: Of the draws that are screened.
        warm: ``w x k`` further starts, optimised without screening.

    Raises:
        FitError: If no start has a finite objective.
        TimeLimitError: If it takes longer than a surrounding `time_limit`.
    """
    began = time.perf_counter()
    counter = EvaluationCounter(objective)
    low, high = search_box(objective)
    still = waiting(objective)
    waits = still.isfinite()
    first = (torch.where(waits, still, edge) for edge in (low, high))
    initial = _explored(counter, starts, seed, *first)
    if bool(waits.any()):
        # What was waiting joins the best of the others, from where it was, which never
        # ends below, and from the centre of its prior, where it has more of a slope.
        initial, (centre, _) = initial[:1], objective.prior_moments()
        initial = torch.cat([initial, torch.where(waits, centre, initial)])
    if warm is not None:
        rows = warm.reshape(-1, objective.dim).to(initial)
        initial = torch.cat([rows.maximum(low).minimum(high), initial])
    theta, value = maximise(counter, initial, low, high, MAX_ITERATIONS)
    if not bool(torch.isfinite(value).any()):
        raise FitError(
            f"none of {len(value)} starts has a finite log posterior: expected finite "
            "inputs in the unit cube and targets near unit scale; check the data's "
            "scale and duplicates with zero noise"
        )
    best = int(value.nan_to_num(-torch.inf).argmax())
    if objective.newton_pays:
        polished = _polish(counter, theta[best], low, high)
    else:
        polished = _finished(counter, theta[best], low, high)
    top, gradient = counter(polished.unsqueeze(0))
    hits = int((value > top.item() - SAME_OPTIMUM).sum())
    bound = (polished <= low + 1e-9) | (polished >= high - 1e-9)
    objective.set(polished)
    with torch.no_grad():
        likelihood = objective.log_likelihood(polished)
    names = _names_at(objective, bound)
    return FitResult(
        theta=tuple(polished.tolist()),
        objective=top.item(),
        log_likelihood=likelihood.item(),
        gradient_norm=gradient[0][~bound].norm().item(),
        at_bound=names,
        restarts=len(initial),
        restart_hits=max(1, hits),
        evaluations=counter.count,
        seconds=time.perf_counter() - began,
        seed=seed,
        objective_name="map" if objective.use_prior else "ml",
    )


class EvaluationCounter:
    """Values and gradients of an objective, counted one per θ.

    Args:
        objective: Of one data set.
    """

    def __init__(self, objective: LogPosterior) -> None:
        self.objective = objective
        self.count = 0

    def __call__(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """Values and gradients at each row of θ."""
        self.count += len(theta)
        return self.objective.value_and_gradient(theta)


def search_box(objective: LogPosterior) -> tuple[Tensor, Tensor]:
    """Lowest and highest θ that the optimiser visits, ``k`` each."""
    is_log = objective.is_log()
    low = torch.where(is_log, LOG_BOX[0], FREE_BOX[0]).to(objective.z)
    high = torch.where(is_log, LOG_BOX[1], FREE_BOX[1]).to(objective.z)
    return low, high


def _explored(
    counter: EvaluationCounter, starts: int, seed: int, low: Tensor, high: Tensor
) -> Tensor:
    """The best starts after a few iterations from each of many, ``starts x k``."""
    objective = counter.objective
    if starts == 0:
        return objective.z.new_empty(0, objective.dim)
    free = int((low < high).sum())
    generator = seeding.generator("starts", seed)
    candidates = draw_starts(objective, generator).maximum(low).minimum(high)
    screen = on_some_rows(objective, generator)
    counter.count += len(candidates)
    advised = advised_starts(objective).maximum(low).minimum(high)
    few = objective.explored_rows
    is_small = free <= EXPLORE_ABOVE or few is not None
    screened = screen_starts(screen, candidates, starts * (1 if is_small else EXPLORED))
    many = torch.cat([advised, screened[0]])
    if few is not None:
        part = EvaluationCounter(on_some_rows(objective, generator, few))
        many, value = maximise(part, many, low, high, MAX_ITERATIONS)
        counter.count += part.count
        many, starts = many[_order(value)], KEPT
    elif is_small and free == objective.dim:
        return many
    iterations = EXPLORE_ITERATIONS if free == objective.dim else MAX_ITERATIONS
    theta, value = maximise(counter, many[:starts], low, high, iterations)
    return theta[_order(value)][:starts]


def _order(values: Tensor) -> Tensor:
    return values.nan_to_num(-torch.inf).argsort(descending=True)


def maximise(
    counter: EvaluationCounter,
    starts: Tensor,
    low: Tensor,
    high: Tensor,
    iterations: int,
) -> tuple[Tensor, Tensor]:
    """L-BFGS from each start: final points and values."""
    chunk = max(1, BATCH_ELEMENTS // counter.objective.entries)
    alone = counter.objective.num_data >= BATCHED_BELOW
    if alone and not counter.objective.batches_pay:
        chunk = 1
    parts = [
        _lbfgs(counter, start, low, high, iterations) for start in starts.split(chunk)
    ]
    return torch.cat([p[0] for p in parts]), torch.cat([p[1] for p in parts])


def _lbfgs(
    counter: EvaluationCounter,
    start: Tensor,
    low: Tensor,
    high: Tensor,
    iterations: int,
    gradient_tolerance: float = LBFGS_GRADIENT,
    factor: float = LBFGS_FACTOR,
) -> tuple[Tensor, Tensor]:
    def negated(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, gradient = counter(torch.from_numpy(np.array(x)).to(start))
        value = torch.where(torch.isfinite(value), -value, UNUSABLE)
        return (
            value.double().cpu().numpy(),
            -gradient.double().cpu().numpy(),
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x, f, _ = fmin_l_bfgs_b_batched(
            negated,
            start.double().cpu().numpy(),
            bounds=list(zip(low.tolist(), high.tolist(), strict=True)),
            pgtol=gradient_tolerance,
            factr=factor,
            maxiter=iterations,
        )
    value = -torch.from_numpy(np.asarray(f)).to(start)
    return torch.from_numpy(np.asarray(x)).to(start), torch.where(
        value <= -UNUSABLE, -torch.inf, value
    )


def _polish(
    counter: EvaluationCounter, theta: Tensor, low: Tensor, high: Tensor
) -> Tensor:
    """Damped Newton steps until the gradient is below tolerance or no step helps."""
    value, gradient = (t[0] for t in counter(theta.unsqueeze(0)))
    damping = 0.0
    for _ in range(NEWTON_STEPS):
        free = (theta > low + 1e-9) & (theta < high - 1e-9)
        if gradient[free].norm() < 0.1 * GRADIENT_TOLERANCE or not bool(free.any()):
            break
        H = -counter.objective.hessian(theta)[free][:, free]
        if not bool(torch.isfinite(H).all()):
            break
        eigenvalues, vectors = torch.linalg.eigh(H)
        curvature = eigenvalues.abs().clamp_min(1e-8) + damping
        step = vectors @ ((vectors.T @ gradient[free]) / curvature)
        trial = theta.clone()
        trial[free] = (theta[free] + step).clamp(low[free], high[free])
        new_value, new_gradient = (t[0] for t in counter(trial.unsqueeze(0)))
        rises = new_value > value
        flat = (new_value - value).abs() <= 1e-9 * (1.0 + value.abs())
        if rises or (flat and new_gradient[free].norm() < gradient[free].norm()):
            theta, value, gradient = trial, new_value, new_gradient
            damping *= 0.1
        elif damping > 1e6:
            break
        else:
            damping = max(10.0 * damping, 1e-3 * float(curvature.max()))
    return theta


def _finished(
    counter: EvaluationCounter, theta: Tensor, low: Tensor, high: Tensor
) -> Tensor:
    """Quasi-Newton steps to the last digits that gradients have."""
    start = theta.unsqueeze(0)
    found, value = _lbfgs(
        counter, start, low, high, LAST_ITERATIONS, GRADIENT_TOLERANCE, LAST_FACTOR
    )
    return found[0] if bool(torch.isfinite(value[0])) else theta


def _names_at(objective: LogPosterior, mask: Tensor) -> tuple[str, ...]:
    return tuple(c.name for c in objective.coordinates if bool(mask[c.span].any()))
