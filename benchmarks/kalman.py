"""The subcommand ``kalman``: filtered against dense inference, in CPU seconds."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

SIZES = (250, 500, 1000, 2000, 4000, 8000, 16000)
STRUCTURES = ("Matern(2.5)", "Matern(0.5) + Matern(1.5) + Matern(2.5)")
DENSE_UP_TO = 4000
"""Beyond, a dense gradient takes more than 5 GB; a Hessian does from half of it on."""

REPEATS, LONG = 3, 5.0
"""Calls of which the shortest counts, and seconds after which none is repeated."""


def add_commands(commands: Any) -> None:
    """Adds ``kalman`` to the command line."""
    parser = commands.add_parser(
        "kalman", help="cost of filtered and of dense inference on long series"
    )
    parser.add_argument("--structures", default=";".join(STRUCTURES))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--dense-up-to", type=int, default=DENSE_UP_TO)
    parser.add_argument("--fit", type=int, default=50000, help="0 for no fit")
    parser.add_argument("--seed", type=int, default=0)
    parser.set_defaults(run=_kalman)


def _kalman(arguments: argparse.Namespace) -> None:
    structures = [text.strip() for text in arguments.structures.split(";")]
    sizes = [int(size) for size in arguments.sizes.split(",")]
    for text in structures:
        print(f"{text}: value and gradient, and Hessian, CPU seconds")
        print(f"{'n':>7}{'dense':>10}{'kalman':>10}{'ratio':>8}", end="")
        print(f"{'dense':>12}{'kalman':>10}{'ratio':>8}")
        for n in sizes:
            print(_row(text, n, arguments.dense_up_to, arguments.seed), flush=True)
    if arguments.fit:
        print(_fit(structures[0], arguments.fit, arguments.seed))


def series(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Irregular times over 1000 units, and two waves with noise."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    t = 1000.0 * torch.rand(n, generator=generator, dtype=torch.float64)
    noise = torch.randn(n, generator=generator, dtype=torch.float64)
    return t, torch.sin(t / 30.0) + 0.3 * torch.sin(t / 3.0) + 0.2 * noise


def _row(text: str, n: int, dense_up_to: int, seed: int) -> str:
    from bokern.build import unfitted
    from bokern.inputs import read_observations

    data = read_observations(*series(n, seed))
    dense, filtered = (
        unfitted(text, data, inference=inference).log_posterior()
        for inference in ("exact", "kalman")
    )
    theta = filtered.get()
    batch = theta.unsqueeze(0)
    gradient = _seconds(filtered.value_and_gradient, batch)
    hessian = _seconds(filtered.hessian, theta)
    line = f"{n:>7}"
    if n <= dense_up_to:
        whole = _seconds(dense.value_and_gradient, batch)
        line += f"{whole:>10.4f}{gradient:>10.4f}{whole / gradient:>8.1f}"
    else:
        line += f"{'-':>10}{gradient:>10.4f}{'-':>8}"
    if n <= dense_up_to // 2:
        whole = _seconds(dense.hessian, theta)
        line += f"{whole:>12.4f}{hessian:>10.4f}{whole / hessian:>8.1f}"
    else:
        line += f"{'-':>12}{hessian:>10.4f}{'-':>8}"
    return line


def _seconds(function: Callable[[Tensor], object], theta: Tensor) -> float:
    """Least CPU time of a few calls, which other processes disturb least."""
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        function(theta)
        times.append(time.process_time() - began)
        if times[-1] > LONG:
            break
    return min(times)


def _fit(text: str, n: int, seed: int) -> str:
    import torch

    import bokern
    from bokern.evidence import laplace

    t, y = series(n, seed)
    marks = [time.process_time()]
    model = bokern.fit(text, t, y)
    marks.append(time.process_time())
    evidence = laplace(model)
    marks.append(time.process_time())
    with torch.no_grad():
        model.posterior(t.reshape(-1, 1, 1)).variance.sum().item()
    marks.append(time.process_time())
    fitted, measured, predicted = (b - a for a, b in pairwise(marks))
    result = model.fit_result
    assert result is not None
    return (
        f"{text}, n = {n}: fit {fitted:.1f} s ({result.evaluations} evaluations, "
        f"{result.restart_hits} of {result.restarts} starts at the optimum, gradient "
        f"{result.gradient_norm:.0e}), evidence {evidence.log_evidence:.2f} nats in "
        f"{measured:.1f} s, {n} predictions in {predicted:.2f} s"
    )
