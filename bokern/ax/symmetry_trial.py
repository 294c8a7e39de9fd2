"""Trials that test a symmetry which a candidate leaves untested.

A symmetry can lead by the hyperparameters that it saves, and by where the observations
happen to lie. What a model under it proposes may never tell: points that the group
leaves where they are can look best to it again and again. One evaluation does: that of
an image of a point that was observed.
"""

from __future__ import annotations

import itertools
import math

import torch
from ax.core.arm import Arm
from ax.core.experiment import Experiment
from ax.core.parameter import Parameter
from torch import Tensor

from bokern.ax.occupied import SAME, place_of
from bokern.ax.record import symmetries_tested
from bokern.structures import Structure
from bokern.views import Group, Orbit
from bokern.views.elements import generate

APART = 0.05
"""Share of each parameter's range within which an image is as good as its point, or as
another that was tried."""

MOST_ELEMENTS = 720
"""Larger groups are not tested."""

TELLING = 0.5
"""How far from the median an observation lies whose image tests a symmetry, in terms of
the farthest: where the function is level, every symmetry seems to hold."""

FAR = 1e6
"""Where values lie that have no place in their parameter's range."""

MOST_ROWS = 16
"""Of the observations that stand out most, so many are looked at."""

MOST_TESTS = 3
"""Of one group: after so many elements the evidence may speak."""

MOST_REPEATS = 2
"""Trials that test an element, however far later observations stand out."""


def symmetry_trial(
    experiment: Experiment, metric: str, structure: Structure, candidate: Arm
) -> Arm | None:
    """An image of an observed point, under what hardly moves a candidate.

    Of the images that are far from all that was tried, that of the observation that
    stands out most.

    Args:
        experiment: Trials and their data; those under evaluation count as tried.
        metric: Its signature.
        structure: What the metric is modelled by, columns by name.
        candidate: The point that would be tried instead.

    Returns:
        None if the candidate is moved by all elements of the groups, or those that
        hardly move it have been tested.
    """
    space = experiment.search_space
    names = list(space.parameters)
    observed = _observed(experiment, metric)
    trials = experiment.trials.values()
    tried = [arm for trial in trials for arm in trial.arms]
    runs = [run for trial in trials for run in trial.generator_runs]
    tests = [arm for run in runs if symmetries_tested(run) for arm in run.arms]
    for group in dict.fromkeys(structure.resolve(names).groups()):
        if group.reflects or group.order > MOST_ELEMENTS or not observed:
            continue
        parameters = list(space.parameters.values())
        found = _image(group, parameters, observed, tried, tests, candidate)
        if found is not None:
            arm, index = found
            values = [arm.parameters.get(name) for name in names]
            image = dict(zip(names, (values[j] for j in index), strict=True))
            if None not in values and space.check_membership(image):
                return Arm(parameters=image)
    return None


def _observed(experiment: Experiment, metric: str) -> list[tuple[Arm, float]]:
    """Arms with an outcome of the metric, and its deviation from the median."""
    name = next(m.name for m in experiment.metrics.values() if m.signature == metric)
    frame = experiment.lookup_data().df
    frame = frame[frame["metric_name"] == name]
    arms = experiment.arms_by_name
    means = frame["mean"]
    away = (means - means.median()).abs()
    return [(arms[a], float(v)) for a, v in zip(frame["arm_name"], away, strict=True)]


def _image(
    group: Group,
    parameters: list[Parameter],
    observed: list[tuple[Arm, float]],
    tried: list[Arm],
    tests: list[Arm],
    candidate: Arm,
) -> tuple[Arm, tuple[int, ...]] | None:
    """The observation to carry, and the source of each parameter of its image."""
    dim = len(parameters)
    elements, orbit = group.elements(dim), Orbit(group, dim)
    here = _places(parameters, [candidate])
    blind = (orbit(here) - here).abs().amax(-1).squeeze(-1) <= APART
    X = _places(parameters, [arm for arm, _ in observed])
    moves = (orbit(X) - X).abs().amax(-1) > APART
    away = torch.tensor([value for _, value in observed], dtype=torch.float64)
    away = torch.where(moves.any(0), away, -1.0)
    farthest = float(away.max())
    if farthest <= 0.0:
        return None
    order = away.argsort(descending=True, stable=True)[:MOST_ROWS]
    rows = order[away[order] >= TELLING * farthest].tolist()
    apart = torch.cdist(orbit(X), _places(parameters, tests), p=math.inf)
    repeats = (moves.unsqueeze(-1) & (apart <= SAME)).any(1).sum(-1)
    gap = torch.cdist(orbit(X[rows]), _places(parameters, tried), p=math.inf).amin(-1)
    moves, away = moves[:, rows], away[rows]
    is_tested = (moves & (gap <= SAME)).any(-1) | (repeats >= MOST_REPEATS)
    tested = list(itertools.compress(elements, is_tested.tolist()))
    if len(tested) >= MOST_TESTS:
        return None
    known = set(generate(tested, dim, len(elements)))
    fresh = torch.tensor([e not in known for e in elements])
    usable = (blind & fresh).unsqueeze(-1) & moves & (gap > APART)
    if not bool(usable.any()):
        return None
    score = torch.where(usable, away, -1.0)
    # Of several images of one observation the one farthest from all else.
    best = score == score.max()
    flat = int(torch.where(best, gap, -1.0).argmax())
    element, place = divmod(flat, len(rows))
    return observed[rows[place]][0], elements[element][0]


def _places(parameters: list[Parameter], arms: list[Arm]) -> Tensor:
    """Where arms lie, in shares of each range."""
    rows = [
        [place_of(p, arm.parameters.get(p.name)) for p in parameters] for arm in arms
    ]
    found = [[FAR if place is None else place for place in row] for row in rows]
    return torch.tensor(found, dtype=torch.float64).reshape(-1, len(parameters))
