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
from bokern.fitting.beginning import beginning, embedded
from bokern.fitting.hints import advised_starts, waiting
from bokern.fitting.log_posterior import MAX_ITERATIONS, LogPosterior
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

JOINT_ITERATIONS = 100
"""Of what joins late: errors on rows held out fall no further, and rise in some."""

LBFGS_GRADIENT, LBFGS_FACTOR = 1e-3, 1e9
"""L-BFGS stops early, at 2e-7 of relative change: Newton steps finish the best."""

LAST_ITERATIONS, LAST_FACTOR = 200, 10.0
"""Of the last optimisation where Newton steps would take too long."""

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
    initial = _begun(counter, starts, seed)
    if warm is not None:
        rows = warm.reshape(-1, objective.dim).to(initial)
        initial = torch.cat([rows.maximum(low).minimum(high), initial])
    iterations = objective.affordable
    if bool(waiting(objective).isfinite().any()):
        iterations = min(iterations, JOINT_ITERATIONS)
    theta, value = maximise(counter, initial, low, high, iterations)
    if not bool(torch.isfinite(value).any()):
        raise FitError(
            f"none of {len(value)} starts has a finite log posterior: expected finite "
            "inputs in the unit cube and targets near unit scale; check the data's "
            "scale and duplicates with zero noise"
        )
    best = int(value.nan_to_num(-torch.inf).argmax())
    if objective.newton_pays:
        polished = _polish(counter, theta[best], low, high)
    elif objective.affordable >= LAST_ITERATIONS:
        polished = _finished(counter, theta[best], low, high)
    else:
        polished = theta[best]
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


def _begun(counter: EvaluationCounter, starts: int, seed: int) -> Tensor:
    """Starts of the last optimisation, ``starts x k`` at most.

    By parts of the rows where there are many; and what waits joins the others only
    when these are at their best.
    """
    objective = counter.objective
    if starts == 0:
        return objective.z.new_empty(0, objective.dim)
    generator = seeding.generator("starts", seed)
    if objective.explored_rows is None:
        return _explored(counter, starts, generator)
    found = _from_few_rows(counter, starts, generator)
    part = objective.thinned(generator)
    if part is None:
        return _joined(counter, found)
    near = EvaluationCounter(part)
    if bool(waiting(part).isfinite().any()):
        found = _joined(near, found)
    else:
        found, _ = maximise(near, found, *search_box(part), MAX_ITERATIONS)
    counter.count += near.count
    return found


def _explored(
    counter: EvaluationCounter, starts: int, generator: torch.Generator
) -> Tensor:
    """The best starts after a few iterations from each of many, ``starts x k``."""
    objective = counter.objective
    low, high = search_box(objective)
    candidates = draw_starts(objective, generator).maximum(low).minimum(high)
    screen = on_some_rows(objective, generator)
    counter.count += len(candidates)
    is_small = objective.dim <= EXPLORE_ABOVE
    keep = starts if is_small else starts * EXPLORED
    screened, _ = screen_starts(screen, candidates, keep)
    advised = advised_starts(objective).maximum(low).minimum(high)
    many = torch.cat([advised, screened])
    if is_small:
        return many
    theta, value = maximise(counter, many, low, high, EXPLORE_ITERATIONS)
    return theta[_order(value)][:starts]


def _from_few_rows(
    counter: EvaluationCounter, starts: int, generator: torch.Generator
) -> Tensor:
    """Where a few rows and kernels to begin with lead at best, ``1 x k``.

    What waits does, and what they do not have is at the centre of its prior.
    """
    objective = counter.objective
    n, few = objective.num_data, objective.explored_rows
    rows = torch.randperm(n, generator=generator)[:few].to(objective.z.device)
    part = EvaluationCounter(beginning(objective, rows))
    box = search_box(part.objective)
    many = _explored(part, starts, generator)
    found, value = maximise(part, many, *box, MAX_ITERATIONS)
    counter.count += part.count
    still, (centre, _) = waiting(objective), objective.prior_moments()
    base = torch.where(still.isfinite(), still, centre)
    best = found[_order(value)][:1]
    return embedded(best, part.objective, objective, base)


def _joined(counter: EvaluationCounter, initial: Tensor) -> Tensor:
    """A start, ``1 x k``, once what waited has joined it; as it is if nothing does.

    It joins from the centre of its prior, where it has a slope; should that end below
    the others alone, from where it was, which never does.
    """
    objective = counter.objective
    still, (low, high) = waiting(objective), search_box(objective)
    waits = still.isfinite()
    if not bool(waits.any()):
        return initial
    held = torch.where(waits, still, low), torch.where(waits, still, high)
    best, _ = maximise(counter, initial, *held, objective.affordable)
    centre, _ = objective.prior_moments()
    iterations = min(JOINT_ITERATIONS, objective.affordable)
    moved = torch.where(waits, centre, best)
    theta, value = maximise(counter, moved, low, high, iterations)
    return theta if value[0] >= counter(best)[0][0] else best


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
        counter,
        start,
        low,
        high,
        LAST_ITERATIONS,
        GRADIENT_TOLERANCE,
        LAST_FACTOR,
    )
    return found[0] if bool(torch.isfinite(value[0])) else theta


def _names_at(objective: LogPosterior, mask: Tensor) -> tuple[str, ...]:
    return tuple(c.name for c in objective.coordinates if bool(mask[c.span].any()))
