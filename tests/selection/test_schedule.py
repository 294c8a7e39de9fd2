"""The schedule with made-up scores: no structure is fitted here."""

import pytest

from bokern.errors import StructureError
from bokern.selection import progress as module
from bokern.selection.budget import Meter
from bokern.selection.candidate import Candidate
from bokern.selection.last_steps import settle
from bokern.selection.schedule import Plan, Schedule
from bokern.structures import parse
from bokern.structures.grammar import Proposal
from tests.selection.fakes import evidence, fit_result


def candidate(text, score):
    return Candidate(parse(text), evidence(score), fit_result(score), ())


class World:
    """Scores of structures, and a record of the jobs that were asked for."""

    def __init__(self, scores, children=None, broken=(), afresh=None):
        self.scores = {str(parse(k)): v for k, v in scores.items()}
        self.afresh = {str(parse(k)): v for k, v in (afresh or {}).items()}
        self.children = {
            str(parse(k)): [str(parse(c)) for c in v]
            for k, v in (children or {}).items()
        }
        self.broken = {str(parse(b)) for b in broken}
        self.jobs = []

    def run(self, jobs):
        for job in jobs:
            self.jobs.append((job.stage, job.structure))
            yield self.outcome(job)

    def outcome(self, job):
        common = {"evaluations": 100, "seconds": 0.5, "rows": 30}
        if job.structure in self.broken:
            return common | {"error": "FitError: made up"}
        score = self.scores[job.structure]
        if job.afresh:
            score = self.afresh.get(job.structure, score)
        if job.stage == "scout":
            return common | {"theta": [[score], [0.0]], "score": score}
        return common | {"candidate": job.structure, "score": score}

    def expand(self, structure):
        return [
            Proposal(parse(c), structure, "made up")
            for c in self.children.get(str(structure), ())
        ]

    def stages(self, stage):
        return [text for s, text in self.jobs if s == stage]


@pytest.fixture(autouse=True)
def _candidates_by_text(monkeypatch):
    monkeypatch.setattr(
        module, "candidate_from_json", lambda text: candidate(text, SCORES[text])
    )


SCORES = {}


def run(world, initial, plan=None, limit=10**6, rows=0, known=None):
    SCORES.clear()
    SCORES.update(world.scores)
    schedule = Schedule(
        [parse(s) for s in initial],
        known or {},
        world.expand,
        plan or Plan(),
        world.run,
        Meter(limit, progress=False),
        rows,
    )
    schedule.search()
    return schedule


def test_the_baseline_is_fitted_first_and_all_others_looked_at():
    world = World({"RBF()": 0.0, "Linear() + RBF()": 3.0, "DeepSE()": -50.0})
    found = run(world, ["Linear() + RBF()", "RBF()", "DeepSE()"])
    assert world.jobs[0] == ("converge", "RBF()")
    assert world.stages("scout") == ["Linear() + RBF()", "DeepSE()"]
    assert [s.text for s in found.progress.converged] == [
        "Linear() + RBF()",
        "RBF()",
        "DeepSE()",
    ]
    assert not found.progress.cut


def test_far_behind_and_not_the_best_of_its_family_is_pruned():
    world = World({"RBF()": 0.0, "Matern(2.5)": -11.0, "Matern(1.5)": -9.0})
    found = run(world, ["RBF()", "Matern(2.5)", "Matern(1.5)"])
    status = {s.text: s.status for s in found.progress.states.values()}
    assert status == {
        "RBF()": "converged",
        "Matern(2.5)": "pruned",
        "Matern(1.5)": "converged",
    }


def test_leaders_are_expanded_until_a_round_gains_less_than_a_nat():
    world = World(
        {
            "RBF()": 0.0,
            "RBF() + Periodic()": 6.0,
            "RBF() + Linear()": 2.0,
            "RBF() + Periodic() + Linear()": 6.5,
            "RBF() + Periodic() + Periodic()": 30.0,
        },
        {
            "RBF()": ["RBF() + Periodic()", "RBF() + Linear()"],
            "RBF() + Periodic()": ["RBF() + Periodic() + Linear()"],
            "RBF() + Periodic() + Linear()": ["RBF() + Periodic() + Periodic()"],
        },
    )
    found = run(world, ["RBF()"])
    assert found.progress.converged[0].text == "Linear() + Periodic() + RBF()"
    assert "Periodic() + Periodic() + RBF()" not in world.stages("scout")
    assert [s.round for s in found.progress.states.values()] == [0, 1, 1, 2]
    child = found.progress.states["Periodic() + RBF()"]
    assert (child.parent, child.move) == ("RBF()", "made up")


def test_leaders_are_fitted_once_more_from_all_starts():
    world = World({"RBF()": 0.0, "DeepSE()": 3.0, "Linear()": -12.0})
    run(world, ["RBF()", "DeepSE()", "Linear()"])
    # The baseline was fitted so to begin with, and the last is far behind.
    assert world.stages("converge").count("DeepSE()") == 2
    assert world.stages("converge").count("RBF()") == 1
    assert world.stages("converge").count("Linear()") == 1
    world.jobs.clear()
    run(world, ["RBF()", "DeepSE()"], Plan(confirmed=0))
    assert world.stages("converge").count("DeepSE()") == 1


def test_an_optimum_found_so_is_expanded():
    mixture = "RBF() + Periodic()"
    children = {"RBF()": ["DeepSE()"], mixture: ["Linear()"]}
    scores = {"RBF()": 0.0, mixture: -7.0, "DeepSE()": 0.5, "Linear()": 61.0}
    found = run(World(scores, children), ["RBF()", mixture])
    assert "Linear()" not in found.progress.states
    world = World(scores, children, afresh={mixture: 60.0})
    found = run(world, ["RBF()", mixture])
    assert found.progress.converged[0].text == "Linear()"


def test_a_short_list_is_fitted_without_a_first_look():
    world = World({"RBF()": 0.0, "Matern(2.5)": -40.0, "DeepSE()": 1.0})
    plan = Plan(rounds=0, scouted=False)
    found = run(world, ["RBF()", "Matern(2.5)", "DeepSE()"], plan)
    assert world.stages("scout") == []
    assert sorted(world.stages("converge")) == ["DeepSE()", "Matern(2.5)", "RBF()"]
    assert len(found.progress.converged) == 3


def test_children_start_from_their_parents_fit():
    world = World(
        {"RBF()": 0.0, "RBF() + Linear()": 1.0}, {"RBF()": ["RBF() + Linear()"]}
    )
    seen = []
    plain = world.run

    def watched(jobs):
        seen.extend(jobs)
        return plain(jobs)

    world.run = watched
    run(world, ["RBF()"])
    (scout,) = [job for job in seen if job.stage == "scout"]
    assert scout.parents == (("RBF()", fit_result(0.0).theta),)


def test_equal_structures_are_scored_once():
    world = World(
        {"RBF()": 0.0, "DeepSE()": -1.0, "RBF() + DeepSE()": 0.5},
        {"RBF()": ["RBF() + DeepSE()"], "DeepSE()": ["DeepSE() + RBF()"]},
    )
    run(world, ["RBF()", "DeepSE()"])
    assert world.stages("scout").count("DeepSE() + RBF()") == 1


def test_a_failing_structure_is_recorded_and_does_not_end_the_search():
    world = World({"RBF()": 0.0, "DeepSE()": 1.0, "Linear()": 2.0}, broken=["DeepSE()"])
    found = run(world, ["RBF()", "DeepSE()", "Linear()"])
    assert found.progress.states["DeepSE()"].status == "failed"
    assert found.progress.states["DeepSE()"].error == "FitError: made up"
    assert found.progress.converged[0].text == "Linear()"


def test_a_failing_baseline_does_not_end_the_search():
    world = World({"RBF()": 0.0, "DeepSE()": 1.0}, broken=["RBF()"])
    found = run(world, ["RBF()", "DeepSE()"])
    assert [s.text for s in found.progress.converged] == ["DeepSE()"]


def test_the_budget_ends_the_search_with_what_there_is():
    names = ["RBF()", "DeepSE()", "Linear()", "Matern(2.5)", "Matern(1.5)"]
    world = World({name: float(i) for i, name in enumerate(names)})
    found = run(world, names, limit=300)
    assert world.stages("scout") == ["DeepSE()", "Linear()"]
    assert world.stages("converge") == ["RBF()", "Linear()"]
    assert found.progress.cut


def test_a_budget_cuts_nothing_where_nothing_is_left():
    found = run(World({"RBF()": 0.0}), ["RBF()"], limit=100)
    assert not found.progress.cut
    found = run(World({"RBF()": 0.0}, {"RBF()": ["DeepSE()"]}), ["RBF()"], limit=100)
    assert found.progress.cut
    assert list(found.progress.states) == ["RBF()"]
    found = run(World({"RBF()": 0.0, "DeepSE()": 1.0}), ["RBF()", "DeepSE()"], limit=99)
    assert found.progress.cut


def test_known_structures_need_no_first_look():
    world = World({"RBF()": 0.0, "DeepSE()": 1.0})
    known = {parse("DeepSE()"): (0.5,)}
    found = run(world, ["RBF()"], Plan(confirmed=0), known=known)
    assert world.jobs == [("converge", "RBF()"), ("converge", "DeepSE()")]
    assert found.progress.converged[0].text == "DeepSE()"


def test_only_finalists_are_fitted_to_all_rows():
    world = World({"RBF()": 0.0, "DeepSE()": -3.0, "Linear()": -40.0})
    found = run(world, ["RBF()", "DeepSE()", "Linear()"], rows=200)
    settle(found.progress, 4, lambda _: 0)
    assert world.stages("settle") == ["RBF()", "DeepSE()"]
    assert [s.text for s in found.progress.finished] == ["RBF()", "DeepSE()"]


def test_what_cannot_be_fitted_to_all_rows_is_no_result():
    world = World({"RBF()": 0.0, "DeepSE()": -3.0})
    found = run(world, ["RBF()", "DeepSE()"], rows=200)
    world.broken = {"RBF()"}
    settle(found.progress, 4, lambda _: 0)
    assert [s.text for s in found.progress.finished] == ["DeepSE()"]


def test_ranking_does_not_depend_on_the_order_of_the_list():
    scores = {"RBF()": 1.0, "DeepSE()": 1.0, "Matern(2.5)": 0.0}
    orders = [list(scores), list(reversed(scores))]
    ranked = [
        [s.text for s in run(World(scores), order).progress.converged]
        for order in orders
    ]
    assert ranked[0] == ranked[1]


def test_a_bad_text_is_refused():
    with pytest.raises(StructureError):
        run(World({}), ["Nonsense()"])
