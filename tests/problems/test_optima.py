"""Each stated optimum, against the function itself and a search of the box."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from scipy.optimize import differential_evolution, minimize
from torch.quasirandom import SobolEngine

from bokern.problems import (
    Ackley5,
    Branin,
    Bukin6,
    Gramacy2D,
    GramacyLee,
    Hartmann6,
    InvariantDraw,
    Michalewicz5,
    Pack5,
    Problem,
    Xiong,
)

# The values that the literature prints.
PRINTED = {
    Branin: 0.397887,
    Hartmann6: -3.32237,
    Michalewicz5: -4.687658,
    Bukin6: 0.0,
    GramacyLee: -0.869011,
    Xiong: -0.609313,
    Gramacy2D: -0.428882,
    Ackley5: 0.0,
    Pack5: -0.707107,
}
PROBLEMS = [*(kind() for kind in PRINTED), InvariantDraw(seed=3)]


def _at(problem: Problem, x: np.ndarray) -> float:
    return problem.evaluate(torch.tensor(np.atleast_2d(x), dtype=torch.float64)).item()


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_optimum_is_reached_at_each_optimizer(problem):
    lower, upper = np.array(problem.bounds).T
    for point in problem.optimizers:
        assert np.all(lower <= point)
        assert np.all(point <= upper)
        assert _at(problem, np.array(point)) == pytest.approx(
            problem.optimum, abs=1e-10
        )


@pytest.mark.parametrize("kind", PRINTED, ids=lambda k: k.__name__)
def test_optimum_is_the_printed_one(kind):
    assert kind().optimum == pytest.approx(PRINTED[kind], abs=1e-5)


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_no_point_of_the_box_is_lower(problem):
    lower, upper = np.array(problem.bounds).T
    grid = SobolEngine(problem.dim, seed=0, scramble=True).draw(2**13)
    X = lower + (upper - lower) * grid.double().numpy()
    assert problem.evaluate(torch.tensor(X)).min().item() >= problem.optimum - 1e-12


@pytest.mark.oracle
@pytest.mark.parametrize(
    "problem",
    [p for p in PROBLEMS if p.dim <= 3 and not isinstance(p, Bukin6)],
    ids=repr,
)
def test_a_global_search_ends_at_the_optimum(problem):
    found = differential_evolution(
        lambda x: _at(problem, x), problem.bounds, rng=0, popsize=20, tol=1e-10
    )
    assert found.fun == pytest.approx(problem.optimum, abs=1e-8)
    distance = np.abs(np.array(problem.optimizers) - found.x).max(-1).min()
    assert distance < 1e-3


@pytest.mark.oracle
def test_no_well_of_hartmann_is_deeper():
    problem = Hartmann6()
    grid = SobolEngine(6, seed=0, scramble=True).draw(2**11).double()
    starts = grid[problem.evaluate(grid).argsort()[:30]].numpy()
    ends = [
        minimize(lambda x: _at(problem, x), s, bounds=problem.bounds) for s in starts
    ]
    best = min(ends, key=lambda end: end.fun)
    assert best.fun == pytest.approx(problem.optimum, abs=1e-8)
    np.testing.assert_allclose(best.x, problem.optimizers[0], atol=1e-4)


@pytest.mark.oracle
def test_michalewicz_is_separable_and_minimal_in_each_coordinate():
    # A sum of one-dimensional terms: the best of each by a grid and a polish.
    problem = Michalewicz5()
    grid = np.linspace(0, np.pi, 20001)
    total, point = 0.0, []
    for i in range(1, 6):

        def term(x, i=i):
            return -np.sin(x) * np.sin(i * x**2 / np.pi) ** 20

        start = grid[np.argmin(term(grid))]
        end = minimize(lambda x, t=term: t(x[0]), start, tol=1e-14)
        total, point = total + end.fun, [*point, end.x[0]]
    assert total == pytest.approx(problem.optimum, abs=1e-10)
    np.testing.assert_allclose(point, problem.optimizers[0], atol=1e-5)


@pytest.mark.oracle
def test_ackley_is_the_published_sum_moved():
    problem = Ackley5()
    x = np.array([-30.0, 20.0, 1.0, 0.5, -7.0])
    z = x - np.array(problem.optimizers[0])
    published = (
        -20 * np.exp(-0.2 * np.sqrt(np.mean(z**2)))
        - np.exp(np.mean(np.cos(2 * np.pi * z)))
        + 20
        + np.e
    )
    assert _at(problem, x) == pytest.approx(published)


@pytest.mark.oracle
def test_five_points_lie_no_farther_apart():
    # The largest t with all distances at least t, from several starts.
    problem = Pack5()
    pairs = list(itertools.combinations(range(5), 2))

    def slack(z):
        points = z[:10].reshape(5, 2)
        return [np.sum((points[i] - points[j]) ** 2) - z[10] ** 2 for i, j in pairs]

    random = np.random.default_rng(0)
    ends = [
        minimize(
            lambda z: -z[10],
            np.append(random.random(10), 0.1),
            bounds=[*problem.bounds, (0.0, 2.0)],
            constraints={"type": "ineq", "fun": slack},
            method="SLSQP",
        )
        for _ in range(20)
    ]
    best = min((end for end in ends if end.success), key=lambda end: end.fun)
    assert best.fun == pytest.approx(problem.optimum, abs=1e-6)
    assert _at(problem, best.x[:10]) == pytest.approx(problem.optimum, abs=1e-6)


def test_the_order_of_points_and_turns_of_the_square_change_nothing():
    problem = Pack5()
    points = np.random.default_rng(0).random((5, 2))
    before = _at(problem, points.reshape(-1))
    turned = np.stack([points[:, 1], 1 - points[:, 0]], -1)[[2, 0, 4, 1, 3]]
    assert _at(problem, turned.reshape(-1)) == pytest.approx(before)


def test_evaluating_in_single_precision_leaves_the_constants_alone():
    problem = Hartmann6()
    X = torch.tensor(problem.optimizers, dtype=torch.float64)
    before = problem.evaluate(X)
    assert problem.evaluate(X.float()).dtype == torch.float32
    assert problem.evaluate(X).equal(before)
