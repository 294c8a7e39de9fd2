"""What a search returns when it does not come to its end as planned."""

from dataclasses import replace

import pandas as pd
import pytest
import torch

from bokern.errors import InputError, StorageError, TimeLimitError
from bokern.inputs import read_observations
from bokern.selection import Comparison, jobs, searching
from bokern.selection.budget import DEFAULT
from bokern.selection.candidate import Settings
from bokern.selection.jobs import Context, Effort, Job, perform
from bokern.selection.schedule import Plan
from bokern.structures import parse
from bokern.structures.grammar import Grammar
from tests.selection.test_search import LIST, search, series

PAIR = ["RBF()", "Linear() + RBF()"]


@pytest.fixture
def some_rows(monkeypatch):
    """Searches on 20 of the 24 rows."""
    for module in (jobs, searching):
        monkeypatch.setattr(module, "SEARCH_ROWS", 20)


def stopping(monkeypatch, stage, error):
    """A search that an error ends after the jobs before a stage."""
    real = searching.Workers.map

    def stopped(self, work, arrived):
        if any(job.stage == stage for job in work):
            raise error
        yield from real(self, work, arrived)

    monkeypatch.setattr(searching.Workers, "map", stopped)


def failing(monkeypatch, stage):
    """Jobs of a stage fail."""

    def fails(job, context):
        raise RuntimeError("made up")

    monkeypatch.setitem(jobs._STAGES, stage, fails)


def test_what_was_fitted_to_some_rows_is_kept_if_the_last_step_fails(
    some_rows, monkeypatch
):
    failing(monkeypatch, "settle")
    found = search(*series(), PAIR)
    assert len(found.candidates) == 2
    assert len(found.X) == 20
    assert any(
        "on 20 of 24 rows" in n and "none fitted to more (RuntimeError: made up)" in n
        for n in found.notes
    )
    assert found.failures == ()
    assert {a.status for a in found.trace} == {"converged"}
    assert len(found.model().train_targets) == 20


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyboardInterrupt(), "the search was interrupted from the keyboard"),
        (
            StorageError("disk full"),
            "the search was stopped by StorageError: disk full",
        ),
    ],
)
def test_an_end_before_the_last_step_keeps_what_was_found(
    some_rows, monkeypatch, error, said
):
    stopping(monkeypatch, "settle", error)
    with pytest.raises(type(error)) as caught:
        search(*series(), PAIR)
    result = caught.value.result
    assert len(result.candidates) == 2
    assert len(result.X) == 20
    assert said in result.notes


def test_the_last_step_has_its_most_rows(some_rows, monkeypatch):
    monkeypatch.setattr(jobs, "SETTLED_ROWS", 22)
    found = search(*series(), PAIR)
    assert len(found.X) == 22
    assert any(
        "20 of 24 rows" in n and "the best fitted to 22" in n for n in found.notes
    )
    assert {a.rows for a in found.trace} == {22}


def test_a_failed_sampling_is_said(monkeypatch):
    failing(monkeypatch, "smc")
    found = search(*series(), PAIR, smc=True)
    assert {e.integration for e in found.evidences} == {"laplace"}
    (note,) = [
        n for n in found.notes if "were not sampled (RuntimeError: made up)" in n
    ]
    assert note.endswith("all evidences stay Laplace's")


def test_finalists_are_sampled_all_or_none(monkeypatch):
    X, y = series()
    sizes = {c.evidence.n_hyperparameters for c in search(X, y, PAIR).candidates}
    monkeypatch.setattr(searching, "SAMPLED_SIZE", len(X) * min(sizes))
    found = search(X, y, PAIR, smc="auto")
    assert len(sizes) == 2
    assert {e.integration for e in found.evidences} == {"laplace"}
    assert any("would take too long: all are Laplace's" in n for n in found.notes)


def test_an_end_amid_sampling_ranks_all_alike(monkeypatch):
    real = searching.Workers.map

    def stopped(self, work, arrived):
        for job, outcome in zip(work, real(self, work, arrived), strict=True):
            yield outcome
            if job.stage == "smc":
                raise KeyboardInterrupt

    monkeypatch.setattr(searching.Workers, "map", stopped)
    X, y = series()
    with pytest.raises(KeyboardInterrupt) as caught:
        search(X[::2], y[::2], PAIR, smc=True)
    result = caught.value.result
    assert {e.integration for e in result.evidences} == {"laplace"}
    (note,) = [n for n in result.notes if n.startswith("sampled, but not ranked by")]
    assert "±" in note


def test_seconds_are_all_of_a_structures_work(some_rows):
    found = search(*series(), PAIR, smc=True)
    spent = {a.structure: a.seconds for a in found.trace}
    for candidate in found.candidates:
        assert candidate.evidence.seconds == spent[str(candidate.structure)]


def test_a_fit_that_ends_below_one_that_it_contains_is_flagged(monkeypatch):
    context = Context(read_observations(*series()), Settings(), Effort())
    part = perform(Job("converge", "RBF()"), context)["candidate"]
    parents = (("RBF()", tuple(part["fit"]["theta"])),)
    job = Job("converge", "Linear() + RBF()", parents)
    flags = perform(job, context)["candidate"]["evidence"]["flags"]
    assert "NESTED_VIOLATION" not in flags
    monkeypatch.setattr(jobs, "_reached", lambda model: -1e6)
    flags = perform(job, context)["candidate"]["evidence"]["flags"]
    assert "NESTED_VIOLATION" in flags


def test_a_journal_of_another_release_is_refused(monkeypatch, tmp_path):
    path = tmp_path / "search.jsonl"
    search(*series(), ["RBF()"], journal=path)
    monkeypatch.setattr(searching, "_version", lambda: "99.0")
    with pytest.raises(StorageError, match=r"is of bokern .*, this is 99.0"):
        search(*series(), ["RBF()"], journal=path)


def test_notes_do_not_name_the_data():
    X, y = series()
    data = read_observations(X, y)
    noted = replace(data, notes=("another word",))
    digests = {Context(d, Settings(), Effort()).digest for d in (data, noted)}
    assert len(digests) == 1
    moved = replace(data, y=data.y + 1.0)
    assert Context(moved, Settings(), Effort()).digest not in digests


def test_the_device_of_other_processes_is_the_cpu():
    data = read_observations(*series())
    elsewhere = replace(data, X=data.X.to("meta"))
    with pytest.raises(InputError, match="the data are on meta: pass workers=1"):
        searching.search_observations(
            [],
            elsewhere,
            Settings(),
            grammar=Grammar.of(data.bounds),
            plan=Plan(),
            effort=Effort(),
            limit=DEFAULT,
            workers=2,
        )


def test_a_budget_that_was_enough_is_not_called_spent():
    found = search(*series(), PAIR)
    enough = sum(a.evaluations for a in found.trace)
    exactly = search(*series(), PAIR, budget=enough)
    assert not any("budget was spent" in note for note in exactly.notes)
    less = search(*series(), LIST, budget=10)
    assert any("budget was spent" in note for note in less.notes)


def test_the_trace_as_a_table(tmp_path):
    found = search(*series(), LIST)
    table = found.trace_table
    assert list(table["structure"]) == [a.structure for a in found.trace]
    assert (table["rows"] == 24).all()
    assert pd.api.types.is_float_dtype(table["score"])
    text = found.to_json().replace('"parent": ""', '"father": ""')
    with pytest.raises(StorageError):
        Comparison.from_json(text)
    text = found.to_json()
    start = text.index('"trace"')
    broken = text[:start] + text[start:].replace("RBF()", "Nonsense(", 1)
    with pytest.raises(StorageError):
        Comparison.from_json(broken)


def test_other_processes_get_the_rows_that_they_need():
    context = Context(read_observations(*series()), Settings(), Effort())
    workers = searching.Workers(context)
    look, settle = (workers._text(Job("scout", "RBF()", rows=r)) for r in (20, 0))
    assert len(jobs._loads(look).data.X) == 20
    assert len(jobs._loads(settle).data.X) == 24
    assert torch.equal(jobs._loads(look).data.X, context.on(20).data.X)
    assert jobs._loads(look).on(20).data is jobs._loads(look).data


def test_a_smaller_draw_is_a_part_of_a_larger_one():
    context = Context(read_observations(*series()), Settings(), Effort())
    few, more = (set(context.on(r).data.y.tolist()) for r in (5, 11))
    assert (len(few), len(more)) == (5, 11)
    assert few < more


def test_all_rows_are_settled_on_where_all_finalists_are_filtered(monkeypatch):
    monkeypatch.setattr(jobs, "SETTLED_ROWS", 230)
    data = read_observations(*series(240))
    filtered, dense = parse("Matern(1.5)"), parse("RBF()")
    assert jobs.settled_rows([filtered], data) == 0
    assert jobs.settled_rows([filtered, dense], data) == 230
    assert jobs.settled_rows([dense], read_observations(*series(229))) == 0


def test_rows_that_do_not_vary_are_not_searched_on(some_rows):
    X, y = series()
    drawn = Context(read_observations(X, y), Settings(seed=1), Effort()).on(20)
    only_others = (~torch.isin(y, drawn.data.y)).double()
    with pytest.raises(InputError, match="constant in the 20 rows that were drawn"):
        search(X, only_others, PAIR)


@pytest.mark.parametrize("outcome", ["auto", "yeo-johnson"])
def test_choosing_the_outcome_is_metered_and_limited(monkeypatch, outcome):
    spent = []
    real = searching.Meter.spend

    def spend(self, evaluations):
        spent.append(evaluations)
        real(self, evaluations)

    monkeypatch.setattr(searching.Meter, "spend", spend)
    found = search(*series(), ["RBF()"], outcome=outcome)
    assert spent[0] > 500
    assert sum(spent[1:]) == sum(a.evaluations for a in found.trace)
    with pytest.raises(TimeLimitError, match="longer than"):
        search(*series(), ["RBF()"], outcome=outcome, time_limit=1e-9)


def test_the_bar_is_closed_where_the_journal_is_refused(monkeypatch, tmp_path):
    closed = []
    monkeypatch.setattr(searching.Meter, "close", lambda self: closed.append(self))
    with pytest.raises(StorageError):
        search(*series(), ["RBF()"], journal=tmp_path)
    assert len(closed) == 1
