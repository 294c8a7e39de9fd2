"""The data behind a fitted adapter, records, and points to keep away from."""

from __future__ import annotations

import pytest
import torch
from ax.core.arm import Arm

from bokern.ax import generation_strategy
from bokern.ax.occupied import repeats, to_avoid
from bokern.ax.surrogate import data_generator
from bokern.ax.training import training_data
from bokern.errors import DataError
from tests.ax.conftest import advance, branin_like, make_client, node


@pytest.mark.integration
def test_training_data_of_a_fitted_adapter():
    client = make_client(generation_strategy("Matern(2.5)", initial=3), choice=True)
    advance(client, 5, lambda p: {"y": (branin_like(p), 0.1)})
    (metric,) = training_data(node(client).generator_spec.fitted_adapter)
    assert metric.metric == "y"
    assert {"a", "b"} < set(metric.X.columns)
    assert metric.X.shape == (4, 5)
    assert metric.bounds == [(0.0, 1.0)] * 5
    assert (metric.y.shape, metric.noise.shape) == ((4,), (4,))
    shown = [t.arm.parameters["a"] for t in client._experiment.trials.values()][:4]
    assert metric.X["a"].tolist() == pytest.approx(shown)


@pytest.mark.integration
def test_the_data_can_be_read_without_fitting_anything():
    client = make_client(generation_strategy("Matern(2.5)", initial=3), choice=True)
    advance(client, 5, lambda p: {"y": (branin_like(p), 0.1)})
    spec = data_generator({})
    # The fit behind the last trial had not seen that trial.
    first_four = client._experiment.lookup_data(trial_indices=range(4))
    spec.fit(experiment=client._experiment, data=first_four)
    (fitted,) = training_data(node(client).generator_spec.fitted_adapter)
    (read,) = training_data(spec.fitted_adapter)
    assert (read.metric, read.bounds) == (fitted.metric, fitted.bounds)
    assert read.X.equals(fitted.X)
    assert torch.equal(read.y, fitted.y)
    assert torch.equal(read.noise, fitted.noise)


@pytest.mark.integration
def test_an_adapter_without_a_surrogate_is_refused():
    client = make_client(generation_strategy("Matern(2.5)", initial=3))
    advance(client, 1)
    for adapter in (None, client._generation_strategy.adapter):
        with pytest.raises(DataError, match="fitted BoTorch surrogate"):
            training_data(adapter)


def test_failed_points_are_occupied():
    client = make_client(generation_strategy("Matern(2.5)", initial=3))
    index = client.attach_trial({"a": 0.5, "b": 0.5})
    client.mark_trial_failed(index)
    (point,) = to_avoid(client._experiment, None)["y"]
    assert point.parameters == {"a": 0.5, "b": 0.5}
    near, far = ({"a": 0.5005, "b": 0.5}, {"a": 0.52, "b": 0.5})
    assert repeats(client._experiment, Arm(near))
    assert not repeats(client._experiment, Arm(far))


def test_a_point_that_was_tried_is_repeated_by_the_same_only():
    client = make_client(generation_strategy("RBF()", initial=2))
    index = client.attach_trial({"a": 0.5, "b": 1.0})
    client.complete_trial(index, raw_data={"y": 1.0})
    same, near = ({"a": 0.50005, "b": 1.0}, {"a": 0.5005, "b": 1.0})
    assert repeats(client._experiment, Arm(same))
    assert not repeats(client._experiment, Arm(near))
