from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
import torch

from benchmarks.data import VARIABLE, missing
from benchmarks.uci import clock, dkl, lbfgs, svgp
from benchmarks.uci.clock import Clock
from benchmarks.uci.methods import METHODS
from benchmarks.uci.published import BESIDE, MNLP, RMSE, ROWS
from benchmarks.uci.run import UCIRun
from benchmarks.uci.scores import mean_ranks
from benchmarks.uci.sources import HONEST, RANKED, SOURCES
from benchmarks.uci.splits import load_split, seeds_of, training_rows
from benchmarks.uci.structures import fit_structure
from benchmarks.uci.summary import summary
from benchmarks.uci.training import descend, minibatches

FILES = sorted({source.file for source in SOURCES.values()})
reason = missing(FILES)
with_data = pytest.mark.skipif(bool(reason), reason=reason or "")
ROWS_MADE = 90


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Tables of 90 rows in which 15 inputs are repeated; subjects of six rows."""
    source = np.random.default_rng(0)
    X = source.standard_normal((ROWS_MADE, 20)).astype(np.float32)
    X[75:] = X[:15]
    X[:, 0] = np.arange(ROWS_MADE) % 15
    X[:, 7] = 3.0
    y = 5.0 + np.sin(X[:, 4]) + X[:, 5] + 0.1 * source.standard_normal(ROWS_MADE)
    leaky = np.stack([0.4 * y, 0.6 * y], 1)
    for file in FILES:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        np.savez(tmp_path / file, X=X, y=y.astype(np.float32), leaky=leaky)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def test_rows_are_parted_by_the_seed_in_two_thirds_and_one_third():
    rows = np.arange(1000)
    one, again, other = (training_rows(rows, seed) for seed in (3, 3, 4))
    assert one.sum() == 667
    assert (one == again).all()
    overlap = (one & other).sum() / 667
    assert 0.6 < overlap < 0.73


def test_groups_are_never_parted():
    groups = np.repeat(np.arange(50), np.arange(1, 51))
    train = training_rows(groups, 0)
    assert not set(groups[train]) & set(groups[~train])
    assert 2 / 3 <= train.mean() < 2 / 3 + 50 / len(groups)


def test_training_rows_alone_standardise_and_constant_columns_go(folder):
    split = load_split("yacht", 1)
    assert split.X.shape == (60, 19)
    assert split.X_test.shape == (30, 19)
    assert split.X.dtype == split.y.dtype == torch.float64
    for known in (split.X, split.y):
        torch.testing.assert_close(known.mean(0), torch.zeros_like(known[0]))
        torch.testing.assert_close(known.std(0), torch.ones_like(known[0]))
    assert split.X_test.mean(0).abs().min() > 1e-4
    assert split.y_test.std().item() != pytest.approx(1.0, abs=1e-6)
    both = torch.cat([split.X[:, 4], split.X_test[:, 4]])
    everything = both.numel() - len(set(both.tolist()))
    assert everything == 15


def test_repeated_inputs_are_counted_and_kept_on_one_side(folder, monkeypatch):
    file = folder / SOURCES["concrete"].file
    arrays = dict(np.load(file))
    arrays["X"][75:, 0] = arrays["X"][:15, 0]
    np.savez(file, **arrays)
    split = load_split("concrete", 0)
    known = {tuple(row) for row in split.X.tolist()}
    assert split.repeated == sum(tuple(row) in known for row in split.X_test.tolist())
    assert split.repeated > 0
    assert load_split("concrete-grouped", 0).repeated == 0


def test_no_subject_is_on_both_sides(folder):
    X, _, subjects = SOURCES["parkinsons-by-subject"].load()
    assert X.shape == (ROWS_MADE, 16)
    train = training_rows(subjects, 0)
    assert len(set(subjects[train])) == 10
    assert not set(subjects[train]) & set(subjects[~train])


def test_the_answer_is_in_the_marked_set_alone(folder):
    honest, y, _ = SOURCES["bikeshare"].load()
    leaky, _, _ = SOURCES["bikeshare-leaky"].load()
    assert leaky.shape[1] == honest.shape[1] + 2
    np.testing.assert_allclose(leaky[:, -2:].sum(1), y, rtol=1e-6)
    assert [name for name in SOURCES if SOURCES[name].leaky] == ["bikeshare-leaky"]
    assert "bikeshare-leaky" not in (*HONEST, *RANKED)
    assert len({SOURCES[name].file for name in RANKED}) == len(RANKED) == 10


@with_data
def test_what_is_known_of_the_tables():
    concrete = load_split("concrete", 0)
    assert concrete.X.shape == (687, 8)
    assert 0 < concrete.repeated <= 38
    assert load_split("concrete-grouped", 0).repeated == 0
    assert load_split("parkinsons", 0).X.shape == (3917, 16)
    assert len(np.unique(SOURCES["parkinsons-by-subject"].load()[2])) == 42
    X, y, _ = SOURCES["bikeshare-leaky"].load()
    assert (X[:, -2:].sum(1) == y).all()
    assert load_split("bikeshare", 0).X.shape[1] == 13
    assert seeds_of("protein", 3) == range(1)
    assert seeds_of("pol", 3) == range(3)


def test_a_rate_decays_with_the_steps_or_the_time_whichever_is_further(monkeypatch):
    weight = torch.nn.Parameter(torch.tensor(4.0))
    rates: list[float] = []
    optimizer = torch.optim.SGD([weight], lr=0.1)

    def loss() -> torch.Tensor:
        rates.append(optimizer.param_groups[0]["lr"])
        return weight.square()

    assert descend(loss, optimizer, 8, Clock()) == 8
    assert rates == pytest.approx([0.1] * 4 + [0.01] * 2 + [0.001] * 2)
    rates.clear()
    shares = iter([0.0, 0.6, 0.9, 1.1])
    monkeypatch.setattr(Clock, "share", property(lambda self: next(shares)))
    assert descend(loss, optimizer, 8, Clock()) == 3
    assert len(rates) == 3


def test_minibatches_hold_every_row_once_an_epoch():
    X = torch.arange(10.0).unsqueeze(-1)
    batches = minibatches(X, X.squeeze(-1), 4, 0)
    epochs = [torch.cat([next(batches)[1] for _ in range(3)]) for _ in range(2)]
    for epoch in epochs:
        assert sorted(epoch.tolist()) == list(range(10))
    assert not torch.equal(*epochs)


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(clock, "LIMIT", 20.0)
    monkeypatch.setattr(lbfgs, "ROUNDS", 40)
    monkeypatch.setattr(svgp, "STEPS", 300)
    monkeypatch.setattr(dkl, "STEPS", 30)
    monkeypatch.setattr(dkl, "VARIATIONAL_STEPS", 60)


def fits(found, n=60):
    assert found["error"] is None
    assert found["n"] == n
    assert found["rmse"] < 0.9
    assert math.isfinite(found["mnlp"])
    assert 0.0 < found["noise_sd"] < 1.0
    assert not found["stopped_early"]
    assert found["settings"]["dtype"].startswith("torch.float")


@pytest.mark.integration
@pytest.mark.parametrize("method", ["exact", "svgp", "sgpr"])
def test_peers_are_scored(folder, short, method):
    fits(UCIRun("parkinsons", method, 0).execute())


@pytest.mark.integration
@pytest.mark.parametrize("most", [2000, 10])
def test_both_forms_of_deep_kernels_are_scored(folder, short, monkeypatch, most):
    monkeypatch.setattr(dkl, "SMALL", most)
    found = UCIRun("parkinsons", "dkl", 0).execute()
    fits(found)
    assert found["settings"]["form"] == ("KISS-GP" if most > 60 else "variational")
    assert found["settings"]["dtype"] == "torch.float32"


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize("method", ["sswim", "sswim-2", "ssgp"])
def test_structures_are_scored(folder, method):
    learns(METHODS[method])


@pytest.mark.integration
def test_noise_is_in_units_of_the_targets(folder):
    text = "SSWIM(frequencies=16, pseudo_points=2)"
    fitted = learns(partial(fit_structure, structure=text))
    assert fitted.settings["structure"] == text
    tenfold = learns(partial(fit_structure, structure=text), 10.0)
    assert tenfold.noise_sd == pytest.approx(10.0 * fitted.noise_sd, rel=0.02)


def learns(method, scale=1.0):
    split = load_split("parkinsons", 0)
    X, X_test = split.X[:, :2], split.X_test[:, :2]
    fitted = method(X, scale * split.y, 0)
    assert fitted.predict(X_test).rmse(scale * split.y_test) < 0.7 * scale
    return fitted


def test_a_fit_out_of_time_is_stopped_and_still_scored(folder, monkeypatch):
    monkeypatch.setattr(clock, "LIMIT", 1e-9)
    for method in ("exact", "sgpr", "svgp", "dkl"):
        found = UCIRun("parkinsons", method, 0).execute()
        assert found["error"] is None
        assert found["stopped_early"]
        assert math.isfinite(found["mnlp"])


def test_too_many_rows_are_no_failure(folder, monkeypatch):
    monkeypatch.setattr("benchmarks.uci.run.MOST", {"exact": 59})
    found = UCIRun("yacht", "exact", 0).execute()
    assert found["error"] is None
    assert found["skipped"] == "60 training rows, tried up to 59"


def test_published_rows_have_their_numbers_and_methods():
    for table in (RMSE, MNLP):
        assert table.keys() == BESIDE.keys()
        assert all(len(row) == len(ROWS) for row in table.values())
    assert {own for own in ROWS.values() if own} <= METHODS.keys()


def record(data, method, seed, rmse, mnlp, **changes):
    about = {"n": 687, "d": 8, "test_rows": 343, "repeated": 15, "leaky": False}
    score = {"rmse": rmse, "mnlp": mnlp, "noise_sd": 0.25, "fit_seconds": 9.0}
    run = {"data": data, "method": method, "seed": seed, "stopped_early": False}
    rest = {"error": None, "skipped": None, "versions": {"bokern": "1"}}
    return {
        "key": f"{data}/{method}/{seed}",
        **about,
        **score,
        **run,
        **rest,
        **changes,
    }


def test_claims_are_judged_on_what_ran():
    records = [
        record("concrete", "sswim", 0, 0.30, 0.20),
        record("concrete", "sswim", 1, 0.32, 0.28, noise_sd=0.1),
        record("concrete", "ssgp", 0, 0.30, 0.3),
        record("concrete", "ssgp", 1, 0.32, 0.3),
        record("yacht", "sswim", 0, 0.2, 0.3),
        record("yacht", "ssgp", 0, None, 0.3, error="Boom\nlast"),
        record("pol", "sswim", 0, 0.103, 0.3),
        record("pol", "ssgp", 0, 0.1, 0.3),
    ]
    text = summary(records)
    assert "concrete: RMSE of sswim, mean of 2 seeds | 0.31 | ≤ 0.315 | yes" in text
    assert "concrete: MNLP of sswim, mean of 2 seeds | 0.24 | ≤ 0.23 | NO" in text
    assert "concrete: CPU s a fit of sswim, mean of 2 seeds | 9 | ≤ 11 | yes" in text
    assert "concrete: noise sd of sswim, mean of 2 seeds | 0.175 | ≥ 0.2 | NO" in text
    assert "ssgp, mean of 2 seeds | 0.31 | ≤ 1.01 × 0.31 | yes" in text
    assert "mean of 1 seeds | 0.2 | ≤ 1.01 × inf |  |" in text
    assert "| 0.103 | ≤ 1.01 × 0.1 | NO" in text
    assert "| sswim | 2 | 0.31 [0.3, 0.32] | 0.24 [0.2, 0.28] | 9 [9, 9] |" in text
    assert "0.305 / 0.310 | 1.022 / 0.240 |" in text
    assert "1 of 8 runs failed" in text


def test_who_fails_or_skips_is_ranked_last():
    records = [
        record("pol", "sswim", 0, 0.2, 0.0),
        record("pol", "sgpr", 0, 0.1, 0.1),
        record("pol", "exact", 0, None, None, skipped="10000 training rows"),
        record("yacht", "sswim", 0, 0.2, 0.0),
        record("yacht", "sgpr", 0, None, None, error="no"),
        record("yacht", "exact", 0, 0.1, 1.0),
        record("bikeshare-leaky", "sgpr", 0, 0.01, -1.0, leaky=True),
    ]
    methods = ["sswim", "sgpr", "exact"]
    ranks = mean_ranks(records, ["pol", "yacht"], methods, "rmse")
    assert ranks == {"sswim": 2.0, "sgpr": 2.0, "exact": 2.0}
    assert mean_ranks(records, ["pol"], methods, "mnlp")["exact"] == 3.0
    text = summary(records)
    assert "over 2 of 10 data sets" in text
    assert "| exact | 1 | skipped: 10000 training rows |" in text
    assert "| sgpr | 1 | failed |" in text
    assert "**The inputs hold the answer.**" in text


def test_no_records_are_no_error():
    assert "0 of 0 runs failed" in summary([])
