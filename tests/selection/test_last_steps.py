"""All rows, nesting and sampling with made-up scores: no structure is fitted here."""

from dataclasses import replace

import pytest

from bokern.selection import last_steps
from bokern.selection import progress as module
from bokern.selection.budget import Meter
from bokern.selection.candidate import Candidate
from bokern.selection.last_steps import mend, sample, settle, unused_samples
from bokern.selection.progress import Progress
from bokern.structures import parse
from tests.selection.fakes import evidence, fit_result

PART, WHOLE, THIRD = "RBF()", "Linear() + RBF()", "Linear() + Periodic() + RBF()"


def fitted(text, score, flags=()):
    return Candidate(parse(text), evidence(score, flags=flags), fit_result(score), ())


@pytest.fixture(autouse=True)
def _candidates_as_they_are(monkeypatch):
    monkeypatch.setattr(module, "candidate_from_json", lambda candidate: candidate)


class World:
    """Structures that are fitted, and answers to the jobs that are asked for.

    Args:
        scores: Of the structures.
        answer: Score, flags or error of a job.
    """

    def __init__(self, scores, answer, rows=0, limit=10**6):
        self.jobs, self.answer = [], answer
        self.meter = Meter(limit, progress=False)
        structures = [parse(text) for text in scores]
        self.progress = Progress(structures, {}, self.run, self.meter, rows)
        for text, score in scores.items():
            state = self.progress.states[str(parse(text))]
            state.candidate, state.score = fitted(text, score), score
            state.status, state.rows = "converged", rows or 30
            state.starts = ((score,),)

    def run(self, jobs):
        for job in jobs:
            self.jobs.append(job)
            outcome = {"evaluations": 100, "seconds": 0.5, "rows": job.rows or 30}
            answer = self.answer(job)
            if isinstance(answer, str):
                outcome["error"] = answer
            elif job.stage == "smc":
                sampled = evidence(answer, integration="smc", standard_error=0.2)
                outcome |= {"evidence": sampled.to_json(), "score": answer}
            else:
                flags = answer[1] if isinstance(answer, tuple) else ()
                score = answer[0] if isinstance(answer, tuple) else answer
                candidate = fitted(job.structure, score, flags)
                outcome |= {"candidate": candidate, "score": score}
            yield outcome

    def __getitem__(self, text):
        return self.progress.states[str(parse(text))]

    def flags(self, text):
        return self[text].candidate.evidence.flags


def test_finalists_are_settled_on_the_rows_that_suit_all():
    asked = []

    def rows(structures):
        asked.extend(map(str, structures))
        return 2000

    world = World(
        {PART: 0.0, "DeepSE()": -3.0, "Linear()": -40.0}, lambda job: 1.0, 200
    )
    settle(world.progress, 4, rows)
    assert asked == [PART, "DeepSE()"]
    assert [(j.stage, j.rows) for j in world.jobs] == [("settle", 2000)] * 2
    assert {s.rows for s in world.progress.finished} == {2000}


def test_settling_ends_with_the_budget_once_there_is_a_result():
    scores = {PART: 0.0, "DeepSE()": -1.0, "Linear()": -2.0}
    world = World(scores, lambda job: "no" if job.structure == PART else 1.0, 200, 100)
    settle(world.progress, 4, lambda _: 0)
    assert [s.text for s in world.progress.finished] == ["DeepSE()"]
    assert world[PART].error == "no"
    assert world.progress.cut
    assert len(world.jobs) == 2


def test_what_falls_short_starts_again_from_what_it_contains():
    world = World({PART: 5.0, WHOLE: 0.0}, lambda job: 6.0)
    mend(world.progress)
    (job,) = world.jobs
    assert job.parents == ((PART, (5.0,)),)
    assert job.starts == ((0.0,),)
    assert world[WHOLE].score == 6.0
    assert world.flags(WHOLE) == ()


def test_what_was_mended_may_leave_another_short():
    gains = {WHOLE: 8.0, THIRD: 9.0}
    world = World({PART: 5.0, WHOLE: 0.0, THIRD: 7.0}, lambda job: gains[job.structure])
    mend(world.progress)
    assert [job.structure for job in world.jobs] == [WHOLE, THIRD]
    assert world.jobs[1].parents == ((WHOLE, (8.0,)),)


def test_what_cannot_be_mended_is_flagged():
    world = World({PART: 5.0, WHOLE: 0.0}, lambda job: "FitError: made up")
    mend(world.progress)
    assert world.flags(WHOLE) == ("NESTED_VIOLATION",)
    assert world.flags(PART) == ()
    assert world[WHOLE].status == "converged"


def test_a_lower_likelihood_at_a_higher_posterior_is_no_violation():
    # The job compares the posteriors, and flags what it finds.
    world = World({PART: 5.0, WHOLE: 0.0}, lambda job: 4.0)
    mend(world.progress)
    assert len(world.jobs) == 1
    assert world.flags(WHOLE) == ()
    world = World({PART: 5.0, WHOLE: 0.0}, lambda job: (4.0, ("NESTED_VIOLATION",)))
    mend(world.progress)
    assert world.flags(WHOLE) == ("NESTED_VIOLATION",)


def test_passes_that_run_out_leave_a_flag(monkeypatch):
    monkeypatch.setattr(last_steps, "MENDINGS", 1)
    world = World({PART: 5.0, WHOLE: 0.0, THIRD: 7.0}, lambda job: 8.0)
    mend(world.progress)
    assert world.flags(THIRD) == ("NESTED_VIOLATION",)


def test_mending_looks_at_the_rows_of_the_fits():
    world = World({PART: 5.0, WHOLE: 0.0}, lambda job: 6.0, rows=200)
    for state in world.progress.states.values():
        state.settled, state.rows = True, 2000
    mend(world.progress)
    assert [(j.stage, j.rows) for j in world.jobs] == [("settle", 2000)]


NEAR = {PART: 0.0, WHOLE: -4.0, THIRD: -8.0, "Linear()": -12.0}


def kinds(world):
    return {s.text: s.candidate.evidence.integration for s in world.progress.finished}


def test_finalists_are_sampled():
    world = World(NEAR, lambda job: -1.0)
    assert sample(world.progress, 12, lambda _: True) == []
    assert kinds(world) == {
        PART: "smc",
        WHOLE: "smc",
        THIRD: "smc",
        "Linear()": "laplace",
    }
    assert world[PART].status == "finalist"
    assert world[PART].score == -1.0
    assert unused_samples(list(world.progress.states.values()), ()) == []
    assert world.meter.spent == 0


@pytest.mark.parametrize(("most", "largest"), [(1, -99.0), (12, -4.0)])
def test_if_those_near_the_best_cannot_all_be_sampled_none_is(most, largest):
    world = World(NEAR, lambda job: -1.0)

    def applies(e):
        return e.log_evidence != largest

    (said,) = sample(world.progress, most, applies)
    assert world.jobs == []
    assert "no evidence was sampled" in said
    assert (WHOLE in said) == (most == 12)


def test_nothing_is_said_where_nothing_was_to_be_sampled():
    world = World(NEAR, lambda job: -1.0)
    assert sample(world.progress, 12, lambda _: False) == []
    (said,) = sample(world.progress, 12, lambda _: False, asked=True)
    assert "no evidence was sampled" in said


def test_those_further_behind_may_stay_unsampled_and_it_is_said():
    world = World(NEAR, lambda job: -1.0)
    (said,) = sample(world.progress, 2, lambda _: True)
    assert [job.structure for job in world.jobs] == [PART, WHOLE]
    assert kinds(world)[THIRD] == "laplace"
    assert said.startswith(f"{THIRD} was not sampled (")
    assert said.endswith("its evidence is Laplace's, lower by up to 2 nats")


def test_if_one_near_the_best_fails_all_stay_alike_and_nothing_is_lost():
    world = World(
        NEAR, lambda job: "EvidenceError: odd" if job.structure == WHOLE else -1.0
    )
    (said,) = sample(world.progress, 12, lambda _: True)
    assert f"{WHOLE} was not sampled (EvidenceError: odd)" in said
    assert set(kinds(world).values()) == {"laplace"}
    (kept,) = unused_samples(list(world.progress.states.values()), ())
    assert f"{PART} -1.00 ± 0.20" in kept
    assert world[WHOLE].status == "converged"
    assert world[WHOLE].error == ""


def test_sampling_ends_with_the_budget():
    world = World(NEAR, lambda job: -1.0, limit=50)
    world.meter.spend(50)
    (said,) = sample(world.progress, 12, lambda _: True)
    assert world.jobs == []
    assert "the budget" in said


def test_remarks_name_columns():
    text = "RBF(columns=[1])"
    world = World({text: 0.0}, lambda job: "odd")
    (said,) = sample(world.progress, 12, lambda _: True, names=("a", "b"))
    assert said.startswith("RBF(columns=['b']) was not sampled")


def test_sampled_evidences_keep_what_the_fits_showed():
    world = World({PART: 0.0}, lambda job: -1.0)
    fit = world[PART].candidate
    flags = ("ONE_HIT", "NOT_AT_OPTIMUM")
    shown = replace(fit.evidence, flags=flags, restarts=8, restart_hits=1)
    world[PART].candidate = replace(fit, evidence=shown)
    sample(world.progress, 12, lambda _: True)
    found = world[PART].candidate.evidence
    assert (found.flags, found.restarts, found.restart_hits) == (("ONE_HIT",), 8, 1)
