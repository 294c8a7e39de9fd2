r"""How far apart the seven priors are, whatever a search makes of them.

The expected log evidence of a truth over the best member of another family is

$$\min_\theta KL(p(y \mid truth) \,\|\, p(y \mid \theta)),$$

the gap in nats that data from the truth give on average, before Occam's factors of the
two. It depends on the inputs and the truth's hyperparameters alone. Where a family
contains the truth (a warp contains the Matérn) it is 0, and Occam's factor decides.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from benchmarks.identify.truths import (
    DIM,
    FAMILIES,
    NOISE,
    Family,
    Range,
    Ranges,
    draw_truth,
)
from bokern.numerics import cholesky
from bokern.seeding import generator

STARTS = 4
SCALES = {"scale": Range(1, 0.5, 2.0), "noise": Range(1, *NOISE)}


def expected_gap(truth: str, other: str, n: int, seed: int) -> float:
    """Nats by which the truth is expected to lead the best member of another family."""
    drawn = draw_truth(truth, n, seed)
    X = drawn.sample.X
    S = FAMILIES[truth].covariance(X, drawn.values)
    S = S + drawn.noise**2 * torch.eye(n, dtype=X.dtype)
    family = FAMILIES[other]
    ranges: Ranges = {**family.ranges, **SCALES}
    source = generator("separation", truth, other, n, seed)
    ends = []
    for _ in range(STARTS):
        start = [r.free(r.draw(source)) for r in ranges.values()]
        ends.append(_descend(X, S, family, ranges, torch.cat(start)))
    return min(ends)


def _descend(
    X: Tensor, S: Tensor, family: Family, ranges: Ranges, start: Tensor
) -> float:
    sizes = [r.size for r in ranges.values()]
    log_det = torch.linalg.slogdet(S)[1]

    def value_and_gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        free = torch.tensor(theta, dtype=X.dtype, requires_grad=True)
        parts = {
            name: r.values(part)
            for (name, r), part in zip(ranges.items(), free.split(sizes), strict=True)
        }
        K = parts["scale"] * family.covariance(X, parts)
        K = K + parts["noise"] ** 2 * torch.eye(len(X), dtype=X.dtype)
        L, _ = cholesky(K)
        trace = torch.cholesky_solve(S, L).diagonal().sum()
        own = 2.0 * L.diagonal().log().sum()
        value = 0.5 * (trace - len(X) + own - log_det)
        (slope,) = torch.autograd.grad(value, free)
        return value.item(), slope.numpy()

    bounds = [(-5.0, 4.0)] * len(start)
    end = minimize(
        value_and_gradient, start.numpy(), jac=True, bounds=bounds, method="L-BFGS-B"
    )
    return float(end.fun)


def separation_table(n: int, seeds: int) -> str:
    """Median expected gaps as markdown, a row a truth."""
    names = list(FAMILIES)
    lines = [
        f"Expected lead of the truth (rows) over each candidate, in nats, n = {n}, "
        f"{DIM}-D: median [least] of {seeds} draws.",
        "",
        f"| truth | {' | '.join(names)} |",
        "| --- |" + " --- |" * len(names),
    ]
    for truth in names:
        cells = []
        for other in names:
            if other == truth:
                cells.append("")
                continue
            gaps = [expected_gap(truth, other, n, seed) for seed in range(seeds)]
            cells.append(f"{np.median(gaps):.1f} [{min(gaps):.1f}]")
        lines.append(f"| {truth} | {' | '.join(cells)} |")
    return "\n".join(lines)
