from __future__ import annotations

import numpy as np
import pytest
import torch

import bokern
from benchmarks.attempt import attempt
from benchmarks.chosen import chosen
from benchmarks.claims import Row, claims_table, failures
from benchmarks.data import VARIABLE, load_arrays, missing
from benchmarks.predictive import Predictions, predict


@pytest.mark.oracle
def test_mixture_scores_are_those_of_torch():
    weight = torch.tensor([0.25, 0.75]).double()
    mean = torch.tensor([[0.0, 1.0, 3.0], [1.0, -1.0, 2.0]]).double()
    variance = torch.tensor([[1.0, 4.0, 0.5], [0.25, 1.0, 2.0]]).double()
    y = torch.tensor([0.3, 0.7, 2.5]).double()
    mixture = torch.distributions.MixtureSameFamily(
        torch.distributions.Categorical(weight.expand(3, 2)),
        torch.distributions.Normal(mean.T, variance.T.sqrt()),
    )
    found = Predictions(weight, mean, variance)
    assert found.log_density(y) == pytest.approx(mixture.log_prob(y).mean().item())
    off = (mixture.mean - y).numpy()
    assert found.rmse(y) == pytest.approx(np.sqrt(np.mean(off**2)))


def test_predictions_are_of_noisy_raw_targets():
    X = torch.linspace(0, 1, 12).double().unsqueeze(-1)
    y = 100.0 + 10.0 * torch.sin(6.0 * X.squeeze(-1))
    model = bokern.fit("RBF()", X, y, starts=2)
    found = predict(model, X)
    posterior = model.posterior(X, observation_noise=True)
    torch.testing.assert_close(found.mean[0], posterior.mean.squeeze(-1).detach())
    variance = posterior.variance.squeeze(-1).detach()
    torch.testing.assert_close(found.variance[0], variance)
    assert found.rmse(y) < 2.0


@pytest.mark.oracle
def test_scores_of_transformed_outcomes_are_in_raw_units():
    X = torch.linspace(0, 1, 12).double().unsqueeze(-1)
    y = torch.sin(6.0 * X.squeeze(-1)).exp()
    found = predict(bokern.fit("RBF()", X, y, outcome="log", starts=2), X[:3])
    normal = torch.distributions.LogNormal(found.mean[0], found.variance[0].sqrt())
    torch.testing.assert_close(found.overall_mean.detach(), normal.mean.detach())
    expected = normal.log_prob(y[:3]).mean().item()
    assert found.log_density(y[:3]) == pytest.approx(expected)


def test_members_keep_their_exact_weights():
    X = torch.linspace(0, 1, 10).double().unsqueeze(-1)
    y = torch.sin(6.0 * X.squeeze(-1))
    found = bokern.compare(["RBF()", "Matern(2.5)"], X, y, starts=2, progress=False)
    model = found.model(average=True)
    predicted = predict(model, X)
    torch.testing.assert_close(predicted.weight, model.weights)
    mixed = predicted.weight @ predicted.mean
    torch.testing.assert_close(predicted.overall_mean, mixed)


def test_an_attempt_records_success_and_failure():
    good = attempt(lambda: {"value": 3})
    assert good["value"] == 3
    assert good["error"] is None
    assert good["versions"]["torch"]

    def fails():
        np.log(np.zeros(1))
        raise ValueError("what went wrong")

    bad = attempt(fails)
    assert "what went wrong" in bad["error"]
    assert bad["warnings"] == {"RuntimeWarning": 1}


def test_shares_meet_their_limits():
    assert Row.of_share("", 16, 20, 0.8).met
    assert not Row.of_share("", 15, 20, 0.8).met
    assert Row.of_share("", 2, 20, 0.1, at_most=True).met
    assert not Row.of_share("", 3, 20, 0.1, at_most=True).met
    none = Row.of_share("nothing", 0, 0, 0.8)
    assert none.met is None
    assert "| nothing | no runs | ≥ 80% |  |" in claims_table([none])


def test_failures_name_the_first():
    runs = [
        {"key": "a", "error": None, "versions": {"torch": "2"}},
        {"key": "b", "error": "Traceback\nValueError: bad\n", "versions": {}},
    ]
    text = failures(runs)
    assert "1 of 2 runs failed. The first, b: ValueError: bad" in text
    assert "torch 2" in text


def test_names_are_checked():
    assert chosen(None, {"a": 1, "b": 2}, "thing") == ["a", "b"]
    assert chosen("b", {"a": 1, "b": 2}, "thing") == ["b"]
    with pytest.raises(SystemExit, match="unknown thing c: expected a, b"):
        chosen("b,c", {"a": 1, "b": 2}, "thing")


def test_absent_data_are_a_reason_to_skip(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert "there.npz not found" in missing(["there.npz"])
    np.savez(tmp_path / "there.npz", X=np.ones(3))
    assert missing(["there.npz"]) is None
    assert load_arrays("there.npz")["X"].shape == (3,)
