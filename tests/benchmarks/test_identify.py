from __future__ import annotations

import math

import pytest
import torch

import bokern
from benchmarks.identify.run import IdentifyRun
from benchmarks.identify.separation import expected_gap
from benchmarks.identify.summary import summary
from benchmarks.identify.truths import DIM, FAMILIES, NOISE, PLACES, Range, draw_truth
from bokern.kernels import spread_places
from bokern.seeding import generator
from bokern.structures import parse


def covariance(name, X, seed=0):
    values = FAMILIES[name].draw_values(generator("test", seed))
    return FAMILIES[name].covariance(X, values), values


@pytest.fixture(scope="module", name="X")
def points():
    return torch.rand(9, DIM, dtype=torch.float64, generator=generator("test-X"))


@pytest.mark.parametrize("name", FAMILIES)
def test_covariances_are_positive_and_of_unit_variance(name, X):
    K, _ = covariance(name, X)
    torch.testing.assert_close(K, K.T)
    torch.testing.assert_close(K.diagonal(), torch.ones(len(X), dtype=X.dtype))
    assert torch.linalg.eigvalsh(K).min() > -1e-10


@pytest.mark.oracle
def test_matern_is_its_formula(X):
    K, values = covariance("matern", X)
    for i in range(3):
        for j in range(3):
            r = math.sqrt(
                sum(
                    ((X[i, k] - X[j, k]) / values["lengthscale"][k]).item() ** 2
                    for k in range(DIM)
                )
            )
            s = math.sqrt(5) * r
            assert K[i, j].item() == pytest.approx((1 + s + s * s / 3) * math.exp(-s))


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "turn"), [("S3", (1, 0, 2)), ("C3", (1, 2, 0))])
def test_invariant_draws_do_not_change_with_the_group(name, turn, X):
    both = torch.cat([X, X[:, list(turn)]])
    K, _ = covariance(name, both)
    n = len(X)
    torch.testing.assert_close(K[:n, :n], K[n:, :n])
    torch.testing.assert_close(K[:n, :n].diagonal(), K[:n, n:].diagonal())


def test_cyclic_draws_change_with_a_swap(X):
    both = torch.cat([X, X[:, [1, 0, 2]]])
    K, _ = covariance("C3", both)
    assert (K[: len(X), len(X) :].diagonal() < 0.999).any()


def test_warp_at_the_identity_is_the_matern(X):
    values = FAMILIES["warp"].draw_values(generator("test", 0))
    values |= {"a": torch.ones(DIM).double(), "b": torch.ones(DIM).double()}
    plain = FAMILIES["matern"].covariance(X, {"lengthscale": values["lengthscale"]})
    torch.testing.assert_close(FAMILIES["warp"].covariance(X, values), plain)


def test_periodic_part_returns_after_a_period():
    values = FAMILIES["periodic"].draw_values(generator("test", 0))
    values["weight"] = torch.tensor([0.0, 1.0], dtype=torch.float64)
    X = torch.tensor([[0.1, 0.3, 0.9]] * 3, dtype=torch.float64)
    X[1, 0] += values["period"].item()
    X[2, 0] += 0.5 * values["period"].item()
    K = FAMILIES["periodic"].covariance(X, values)
    assert K[0, 1].item() == pytest.approx(1.0)
    ell = values["periodic_lengthscale"].item()
    assert K[0, 2].item() == pytest.approx(math.exp(-2 / ell**2))


def test_columns_are_additive():
    """f(a, b) − f(a', b) − f(a, b') + f(a', b') is zero: its variance is."""
    corners = torch.tensor(
        [[0.1, 0.2, 0.5], [0.7, 0.2, 0.5], [0.1, 0.8, 0.5], [0.7, 0.8, 0.5]]
    ).double()
    sign = torch.tensor([1.0, -1.0, -1.0, 1.0]).double()
    K, _ = covariance("columns", corners)
    assert (sign @ K @ sign).item() == pytest.approx(0.0, abs=1e-12)
    K, _ = covariance("matern", corners)
    assert (sign @ K @ sign).item() > 0.01


@pytest.mark.oracle
def test_the_bend_is_the_mean_over_hidden_functions_that_meet_the_hyperdata(X):
    """Hidden functions are drawn by conditioning their joint Gaussian, by `lstsq`."""
    X = X[:5]
    K, values = covariance("bend", X)
    Z = spread_places(PLACES, range(DIM), DIM)
    both = torch.cat([Z, X]) / values["hidden_lengthscale"]
    joint = torch.exp(-0.5 * torch.cdist(both, both) ** 2)
    gain = torch.linalg.lstsq(joint[:PLACES, :PLACES], joint[:PLACES, PLACES:])[0].T
    rest = joint[PLACES:, PLACES:] - gain @ joint[:PLACES, PLACES:]
    given = torch.linalg.cholesky(joint[:PLACES, :PLACES])
    mean = gain @ given @ values["hidden"].reshape(PLACES, DIM)
    root = torch.linalg.eigh(rest)
    half = root.eigenvectors * root.eigenvalues.clamp_min(0.0).sqrt()
    source = generator("test-bend")
    noise = torch.randn(40_000, len(X), DIM, dtype=X.dtype, generator=source)
    hidden = X / values["lengthscale"] + values["hidden_scale"] * (mean + half @ noise)
    draws = torch.exp(-0.5 * torch.cdist(hidden, hidden) ** 2)
    error = draws.std(0) / math.sqrt(len(draws))
    assert ((draws.mean(0) - K).abs() <= 4.5 * error + 1e-12).all()


def test_the_bend_without_hidden_functions_is_a_squared_exponential(X):
    _, values = covariance("bend", X)
    none = values | {"hidden_scale": torch.zeros(1, dtype=X.dtype)}
    Z = X / values["lengthscale"]
    expected = torch.exp(-0.5 * torch.cdist(Z, Z) ** 2)
    torch.testing.assert_close(FAMILIES["bend"].covariance(X, none), expected)


def test_ranges_hold_and_may_be_inverted():
    source = generator("test-range")
    values = Range(400, 2.0, 4.0, inverted=True).draw(source)
    assert ((values >= 0.25) & (values <= 4.0)).all()
    assert not ((values > 0.5) & (values < 2.0)).any()
    assert 120 < int((values > 1).sum()) < 280


def test_a_seed_is_a_truth_whatever_the_number_of_points():
    few, many = draw_truth("C3", 10, 3), draw_truth("C3", 20, 3)
    assert few.values["lengthscale"] == many.values["lengthscale"]
    torch.testing.assert_close(few.sample.X, many.sample.X[:10])
    assert NOISE[0] <= few.noise <= NOISE[1]
    assert draw_truth("C3", 10, 4).noise != few.noise


@pytest.mark.oracle
def test_the_expected_gap_is_zero_within_the_family_and_positive_elsewhere():
    assert expected_gap("matern", "matern", 12, 0) == pytest.approx(0.0, abs=1e-3)
    assert expected_gap("matern", "warp", 12, 0) == pytest.approx(0.0, abs=1e-2)
    assert expected_gap("matern", "S3", 12, 0) > 1.0


def test_candidates_parse_and_are_distinct():
    columns = [f"x{j}" for j in range(DIM)]
    assert len({parse(f.structure).resolve(columns) for f in FAMILIES.values()}) == 7


def test_a_run_records_what_was_found(monkeypatch):
    def two(X, y, structures, **options):
        assert options["bounds"] == [(0.0, 1.0)] * DIM
        return bokern.compare(
            [structures[0], FAMILIES["S3"].structure], X, y, **options
        )

    monkeypatch.setattr(bokern, "search", two, raising=False)
    found = IdentifyRun("S3", 12, 0).execute()
    assert found["error"] is None
    assert set(found["log_evidence"]) == {"matern", "S3"}
    assert found["best"] in ("matern", "S3")
    assert sum(found["probability"].values()) == pytest.approx(1.0)
    assert found["gap"] >= 0.0
    assert found["cpu_seconds"] >= 0.0


def test_a_failure_is_recorded(monkeypatch):
    def fails(*_, **__):
        raise RuntimeError("no more")

    monkeypatch.setattr(bokern, "search", fails, raising=False)
    found = IdentifyRun("S3", 12, 0).execute()
    assert "no more" in found["error"]
    assert found["drawn"]["lengthscale"]


def record(truth, best, n=80, **evidence):
    key = f"search/{truth}/{n}"
    base = {"key": key, "truth": truth, "n": n, "method": "search", "versions": {}}
    if best is None:
        return base | {"error": "RuntimeError: no", "cpu_seconds": 1.0}
    return base | {
        "error": None,
        "best": best,
        "cpu_seconds": 1.0,
        "probability": {truth: 0.5},
        "log_evidence": evidence,
        "flags": {best: ["BLIND"]},
        "failures": [],
    }


def test_summary_counts_failures_against_the_claim():
    runs = [
        record("S3", "S3", S3=5.0, C3=2.0),
        record("S3", "C3", S3=1.0, C3=2.0),
        record("C3", "C3", S3=1.0, C3=2.0),
        record("C3", None),
    ]
    text = summary(runs)
    assert "| 2 of 4 (50%) | ≥ 80% | NO |" in text
    assert (
        "| S3 | · | · | · | · | · | 1 | 1 | · | 0.50 | 1.0 [-1.0, 3.0] | 1.0 |" in text
    )
    assert "BLIND 3 of the winners" in text
    assert "1 of 4 runs failed." in text
