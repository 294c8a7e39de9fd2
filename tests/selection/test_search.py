"""`bokern.search` on small real fits."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pandas as pd
import pytest
import torch

import bokern
from bokern.errors import FitError, InputError, StorageError, StructureError
from bokern.selection import searching
from bokern.selection.jobs import SEARCH_ROWS

LIST = ["RBF()", "Linear()", "RBF() + Linear()", "Periodic() + Linear()"]


def series(n=24, seed=0):
    """A trend and a period of .25, noisy."""
    source = torch.Generator().manual_seed(seed)
    X = torch.rand(n, 1, dtype=torch.float64, generator=source).sort(0).values
    noise = 0.05 * torch.randn(n, dtype=torch.float64, generator=source)
    return X, (3 * X + torch.sin(8 * torch.pi * X)).squeeze(-1) + noise


def search(*args, **options):
    defaults = {"bounds": [(0.0, 1.0)], "smc": False, "progress": False, "seed": 1}
    return bokern.search(*args, **defaults | options)


def content(found):
    """All that must not depend on where and how fast the work was done."""
    return [
        (str(c.structure), c.evidence.log_evidence, c.fit.theta)
        for c in found.candidates
    ], [(a.structure, a.parent, a.score, a.status, a.evaluations) for a in found.trace]


@pytest.fixture(scope="module")
def listed():
    return search(*series(), LIST)


def test_a_list_is_searched_without_expansion(listed):
    assert listed.best == bokern.structures.parse("Linear() + Periodic()")
    assert {a.structure for a in listed.trace} <= {
        str(bokern.structures.parse(s)) for s in LIST
    }
    assert all(a.round == 0 for a in listed.trace)


def test_evidences_are_those_of_compare(listed):
    X, y = series()
    compared = bokern.compare(LIST, X, y, bounds=[(0.0, 1.0)], seed=1, progress=False)
    for candidate in listed.candidates:
        other = compared.table.set_index("structure").loc[str(candidate.structure)]
        assert candidate.evidence.log_evidence == pytest.approx(
            other["log_evidence"], abs=0.05
        )


def test_a_search_depends_on_its_seed_only(listed):
    assert content(search(*series(), LIST)) == content(listed)


def test_expansion_finds_what_the_list_lacks():
    found = search(*series(), ["RBF()"], rounds=2)
    assert "Periodic" in str(found.best)
    best = next(a for a in found.trace if a.structure == str(found.best))
    assert best.round > 0
    assert best.parent
    assert best.move
    before = next(a for a in found.trace if a.structure == "RBF()")
    assert best.score > before.score + 1.0


def test_the_same_result_in_other_processes(listed):
    pool = ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    with pool:
        elsewhere = search(*series(), LIST, executor=pool)
    assert content(elsewhere) == content(listed)


def test_a_journal_holds_the_work_and_nothing_is_done_twice(
    listed, tmp_path, monkeypatch
):
    path = tmp_path / "search.jsonl"
    first = search(*series(), LIST, journal=path)
    lines = path.read_text().splitlines()
    done = []
    real = searching.Workers.map

    def counted(self, jobs, arrived):
        done.extend(jobs)
        return real(self, jobs, arrived)

    monkeypatch.setattr(searching.Workers, "map", counted)
    again = search(*series(), LIST, journal=path)
    assert done == []
    assert content(again) == content(first) == content(listed)
    assert path.read_text().splitlines() == lines

    path.write_text("\n".join(lines[:4]) + "\n" + lines[4][:30])
    third = search(*series(), LIST, journal=path)
    assert len(done) == len(lines) - 4
    assert content(third) == content(first)


def test_a_journal_of_other_data_or_settings_is_refused(tmp_path):
    path = tmp_path / "search.jsonl"
    search(*series(), LIST, journal=path)
    with pytest.raises(StorageError, match="data: "):
        search(*series(seed=1), LIST, journal=path)
    with pytest.raises(StorageError, match="settings: "):
        search(*series(), LIST, journal=path, seed=2)


def test_columns_are_shown_by_their_names():
    X, y = series()
    frame = pd.DataFrame({"month": X[:, 0].numpy(), "idle": X.flip(0)[:, 0].numpy()})
    found = bokern.search(
        frame,
        pd.Series(y.numpy(), name="sales"),
        ["RBF(columns=['month'])", "RBF(columns=[1])"],
        smc=False,
        progress=False,
    )
    texts = {str(c.structure) for c in found.candidates}
    assert "RBF(columns=['month'])" in texts
    assert all("[1]" not in a.structure for a in found.trace)
    assert found.model(found.best).structure == found.best.resolve(frame.columns)


def test_few_rows_are_not_searched():
    X, y = series(6)
    found = search(X, y)
    assert [str(s) for s in found.structures] == ["Matern(2.5)"]
    assert any("too few to search" in note for note in found.notes)


def test_many_rows_are_searched_in_part_and_fitted_in_full():
    X, y = series(SEARCH_ROWS + 30)
    found = search(X, y, ["RBF()", "Linear()"])
    assert any(f"{SEARCH_ROWS} of {len(X)} rows" in note for note in found.notes)
    whole = bokern.fit("RBF()", X, y, bounds=[(0.0, 1.0)])
    assert found.best == whole.structure
    assert found.candidates[0].fit.objective == pytest.approx(
        whole.fit_result.objective, abs=0.05
    )


def test_a_small_budget_still_gives_a_fit_and_says_so():
    found = search(*series(), LIST, budget=10)
    assert len(found.candidates) >= 1
    assert any("budget was spent" in note for note in found.notes)


def test_a_duration_is_marked_as_not_reproducible():
    found = search(*series(), LIST, budget="10min")
    assert any("another machine" in note for note in found.notes)


def test_a_time_limit_leaves_slow_structures_out():
    with pytest.raises(FitError, match="longer than"):
        search(*series(), LIST, time_limit=1e-9)


def test_everything_is_kept_in_json(listed):
    again = bokern.Comparison.from_json(listed.to_json())
    assert again.trace == listed.trace
    assert again.remarks == listed.remarks
    assert content(again) == content(listed)
    pd.testing.assert_frame_equal(again.table, listed.table)


def test_priors_count_what_was_dropped():
    X, y = series()
    few = search(X, y, ["RBF()", "Linear()"])
    many = search(X, y, ["RBF()", "Linear()", "Matern(0.5)", "Matern(1.5)"])
    prior = {
        name: dict(zip(map(str, found.structures), found.log_priors, strict=True))
        for name, found in (("few", few), ("many", many))
    }
    assert prior["many"]["RBF()"] < prior["few"]["RBF()"] - 0.5
    assert prior["many"]["Linear()"] == pytest.approx(prior["few"]["Linear()"])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"rounds": -1}, "rounds is a whole number >= 0"),
        ({"rounds": 1.5}, "rounds"),
        ({"workers": 0}, "workers is a whole number >= 1"),
        ({"time_limit": 0}, "time_limit is a number of seconds"),
        ({"budget": 0}, "budget"),
        ({"structures": []}, "at least one"),
        ({"seed": "x"}, "seed"),
        ({"time_limit": "5s"}, "time_limit is a number"),
    ],
)
def test_bad_arguments(options, match):
    with pytest.raises(InputError, match=match):
        search(*series(), **options)


def test_bad_structures():
    with pytest.raises(StructureError):
        search(*series(), ["Nonsense()"])
    with pytest.raises(InputError):
        search(*series(), ["RBF(columns=[7])"])


def test_nan_is_refused():
    X, y = series()
    y[3] = torch.nan
    with pytest.raises(InputError, match="nan"):
        search(X, y)


def test_an_interruption_keeps_what_was_found(monkeypatch):
    real = searching.Workers.map

    def interrupted(self, jobs, arrived):
        for job, outcome in zip(jobs, real(self, jobs, arrived), strict=True):
            if job.stage == "converge" and "Linear" in job.structure:
                raise KeyboardInterrupt
            yield outcome

    monkeypatch.setattr(searching.Workers, "map", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        search(*series(), LIST)
    assert [str(s) for s in caught.value.result.structures] == ["RBF()"]
    assert any("interrupted" in note for note in caught.value.result.notes)


def test_what_failed_for_want_of_time_is_tried_again(listed, tmp_path):
    path = tmp_path / "search.jsonl"
    with pytest.raises(FitError, match="longer than"):
        search(*series(), LIST, journal=path, time_limit=1e-9)
    assert content(search(*series(), LIST, journal=path)) == content(listed)


@pytest.mark.parametrize(
    ("smc", "limit", "integration"),
    [("auto", 1000, "smc"), ("auto", 10, "laplace"), (False, 1000, "laplace")],
)
def test_sampling_is_left_out_where_it_would_take_long(
    monkeypatch, smc, limit, integration
):
    monkeypatch.setattr(searching, "SAMPLED_SIZE", limit)
    X, y = series()
    found = search(X[::2], y[::2], ["RBF()"], smc=smc)
    assert found.evidences[0].integration == integration


@pytest.mark.parametrize("smc", ["yes", None, 1])
def test_sampling_is_a_truth_value_or_auto(smc):
    with pytest.raises(InputError, match="smc is True, False or 'auto'"):
        search(*series(), LIST, smc=smc)


def test_sampled_finalists_keep_what_their_fits_showed(listed):
    X, y = series()
    found = search(X, y, ["RBF()", "Periodic() + Linear()"], smc=True)
    best = found.candidates[0].evidence
    fitted = listed.candidates[0].evidence
    assert (best.integration, best.standard_error >= 0.2) == ("smc", True)
    assert best.restarts == fitted.restarts > 0
    assert best.restart_hits == fitted.restart_hits
    assert abs(best.log_evidence - fitted.log_evidence) < 2.0
    assert "±" in found.statement
