"""Building the acquisitions as Ax does."""

from __future__ import annotations

import pytest
import torch
from botorch.acquisition.input_constructors import get_acqf_input_constructor
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.utils.datasets import SupervisedDataset

from bokern.acquisition import (
    GPUCB,
    ContinuousSchedule,
    FiniteSchedule,
    LogEI,
    register_input_constructors,
)

MINIMISE = ScalarizedPosteriorTransform(torch.tensor([-1.0], dtype=torch.double))


@pytest.fixture
def dataset(data):
    return SupervisedDataset(*data, feature_names=["a", "b"], outcome_names=["y"])


def build(acquisition, **kwargs):
    inputs = get_acqf_input_constructor(acquisition)(**kwargs)
    return acquisition(**inputs)


def test_gp_ucb_counts_the_observations(model, dataset, points):
    bounds = [(0.0, 10.0), (0.0, 10.0)]
    common = {"model": model, "training_data": dataset, "bounds": bounds}
    box = build(GPUCB, **common)
    assert (box.schedule, box.observations) == (ContinuousSchedule(2), 7)
    grid = build(GPUCB, **common, size=36, delta=0.05, scale=1.0)
    assert grid.schedule == FiniteSchedule(36, delta=0.05, scale=1.0)
    pending = build(GPUCB, **common, X_pending=points[0], posterior_transform=MINIMISE)
    assert torch.equal(pending.X_pending, points[0])
    assert pending.posterior_transform is MINIMISE


def test_gp_ucb_counts_the_largest_of_several_sets(model, dataset, data):
    fewer = SupervisedDataset(
        data[0][:3], data[1][:3], feature_names=["a", "b"], outcome_names=["z"]
    )
    both = {"z": fewer, "y": dataset}
    built = build(GPUCB, model=model, training_data=both, bounds=[(0, 10)] * 2)
    assert built.observations == 7


def test_log_ei_improves_on_the_best_observation(model, dataset, data, points):
    built = build(LogEI, model=model, training_data=dataset)
    assert torch.equal(built(points), LogEI(model, data[1].max())(points))
    least = build(
        LogEI, model=model, training_data=dataset, posterior_transform=MINIMISE
    )
    expected = LogEI(model, -data[1].min(), MINIMISE)
    assert torch.equal(least(points), expected(points))


def test_registering_twice_changes_nothing():
    before = get_acqf_input_constructor(GPUCB)
    register_input_constructors()
    assert get_acqf_input_constructor(GPUCB) is before
