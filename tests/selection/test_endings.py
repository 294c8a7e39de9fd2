"""What a search returns when it does not come to its end as planned."""

from dataclasses import replace

import pandas as pd
import pytest
import torch

from bokern.errors import InputError, StorageError
from bokern.inputs import read_observations
from bokern.selection import Comparison, jobs, schedule, searching
from bokern.selection.budget import DEFAULT
from bokern.selection.candidate import Settings
from bokern.selection.jobs import Context, Effort, Job, perform
from bokern.selection.schedule import Plan
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
        "no structure was fitted to more than the 20 rows" in n for n in found.notes
    )
    assert "RuntimeError: made up" in dict(found.failures)["RBF()"]
    assert len(found.model().train_targets) == 20


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyboardInterrupt(), "the search was interrupted"),
        (StorageError("disk full"), "the search was ended by StorageError: disk full"),
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
    notes = [n for n in found.notes if "could not be sampled (RuntimeError" in n]
    assert len(notes) == 2


def test_finalists_are_sampled_all_or_none(monkeypatch):
    X, y = series()
    sizes = {c.evidence.n_hyperparameters for c in search(X, y, PAIR).candidates}
    monkeypatch.setattr(searching, "SAMPLED_SIZE", len(X) * min(sizes))
    found = search(X, y, PAIR, smc="auto")
    assert len(sizes) == 2
    assert {e.integration for e in found.evidences} == {"laplace"}


def test_those_not_sampled_are_counted(monkeypatch):
    monkeypatch.setattr(Plan, "smc", 1)
    monkeypatch.setattr(schedule, "AVERAGED_WITHIN", 1e3)
    found = search(*series(), PAIR, smc=True)
    assert sorted(e.integration for e in found.evidences) == ["laplace", "smc"]
    assert any(n.startswith("1 of the structures within") for n in found.notes)


def test_seconds_are_all_of_a_structures_work(some_rows):
    found = search(*series(), PAIR, smc=True)
    spent = {a.structure: a.seconds for a in found.trace}
    for candidate in found.candidates:
        assert candidate.evidence.seconds == spent[str(candidate.structure)]


def test_a_fit_that_ends_below_its_start_is_flagged(monkeypatch):
    X, y = series()
    context = Context(read_observations(X, y), Settings(), Effort())
    good = perform(Job("converge", "RBF()"), context)["candidate"]
    job = Job("converge", "RBF()", starts=(tuple(good["fit"]["theta"]),))
    assert (
        "NESTED_VIOLATION"
        not in perform(job, context)["candidate"]["evidence"]["flags"]
    )
    monkeypatch.setattr(jobs, "_reached", lambda model: -1e6)
    assert "NESTED_VIOLATION" in perform(job, context)["candidate"]["evidence"]["flags"]


def test_a_journal_of_another_release_is_refused(monkeypatch, tmp_path):
    path = tmp_path / "search.jsonl"
    search(*series(), ["RBF()"], journal=path)
    monkeypatch.setattr(searching, "_version", lambda: "99.0")
    with pytest.raises(StorageError, match=r"bokern: .* there, 99.0 here"):
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


def test_other_processes_get_the_rows_that_they_need(some_rows):
    X, y = series()
    context = Context(read_observations(X, y), Settings(), Effort())
    workers = searching.Workers(context)
    look, settle = (workers._text(Job(s, "RBF()")) for s in ("scout", "settle"))
    assert len(jobs._loads(look).data.X) == 20
    assert len(jobs._loads(settle).data.X) == 24
    assert torch.equal(jobs._loads(look).data.X, context.some_rows.X)
