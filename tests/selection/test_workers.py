"""Lost, crashing and late jobs, on executors that do as they are told."""

from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future

import pytest
import torch

from bokern.errors import FitWarning
from bokern.inputs import read_observations
from bokern.selection import workers as module
from bokern.selection.candidate import Settings
from bokern.selection.jobs import Context, Effort, Job
from bokern.selection.workers import Workers

JOBS = [Job("scout", f"RBF(columns=[{i}])") for i in range(6)]


@pytest.fixture
def context():
    X = torch.linspace(0, 1, 5, dtype=torch.float64)
    return Context(read_observations(X, X.sin()), Settings(), Effort())


class Obedient(Executor):
    """Runs at once, or fails as ``plan(job, count)`` says."""

    def __init__(self, plan=lambda job, count: None):
        self.plan = plan
        self.count = 0
        self.submitted = []

    def submit(self, function, job, text):
        self.count += 1
        self.submitted.append(job)
        error = self.plan(job, self.count)
        if isinstance(error, RuntimeError) and "shutdown" in str(error):
            raise error
        future = Future()
        if error is None:
            future.set_result({"evaluations": 1, "seconds": 0.0, "of": job.structure})
        else:
            future.set_exception(error)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False, kill_workers=False):
        pass


def outcomes(workers, arrived=lambda job, outcome: outcome):
    return list(workers.map(JOBS, arrived))


def is_done(found):
    return [outcome.get("of") for outcome in found] == [j.structure for j in JOBS]


def own_pools(workers, monkeypatch, plan):
    """Pools of our own that the workers make when they need one."""
    pools = []

    def pool():
        if workers._given is not None:
            return workers._given
        if workers._own is None:
            workers._own = Obedient(plan)
            pools.append(workers._own)
        return workers._own

    monkeypatch.setattr(workers, "_pool", pool)
    return pools


def test_outcomes_come_in_the_order_of_the_jobs_whatever_finishes_first(context):
    class Reversed(Obedient):
        def submit(self, function, job, text):
            future = super().submit(function, job, text)
            late, self.held = Future(), [*getattr(self, "held", []), (future)]
            self.waiting = [*getattr(self, "waiting", []), late]
            if len(self.waiting) == len(JOBS):
                for f, result in reversed(
                    list(zip(self.waiting, self.held, strict=True))
                ):
                    f.set_result(result.result())
            return late

    arrived = []

    def note(job, outcome):
        arrived.append(job.structure)
        return outcome

    assert is_done(outcomes(Workers(context, Reversed()), note))
    assert sorted(arrived) == [job.structure for job in JOBS]


def test_an_exception_is_an_outcome(context):
    pool = Obedient(lambda job, _: ValueError("odd") if job is JOBS[2] else None)
    found = outcomes(Workers(context, pool))
    assert "ValueError: odd" in found[2]["error"]
    assert [("error" in o) for o in found].count(True) == 1


@pytest.mark.parametrize("error", [BrokenExecutor("died"), CancelledError()])
def test_jobs_lost_with_a_given_executor_are_done_in_own_processes(
    context, monkeypatch, error
):
    given = Obedient(lambda _, count: error if count > 2 else None)
    workers = Workers(context, given)
    pools = own_pools(workers, monkeypatch, lambda *_: None)
    with pytest.warns(FitWarning, match="goes on in processes of its own"):
        assert is_done(outcomes(workers))
    assert [job.structure for job in pools[0].submitted] == [
        job.structure for job in JOBS[2:]
    ]


def test_an_executor_that_was_shut_down_is_replaced(context, monkeypatch):
    given = Obedient(lambda *_: RuntimeError("after shutdown"))
    workers = Workers(context, given)
    own_pools(workers, monkeypatch, lambda *_: None)
    with pytest.warns(FitWarning, match="after shutdown"):
        assert is_done(outcomes(workers))


def test_a_job_that_kills_its_workers_is_found_out_and_recorded(context, monkeypatch):
    broken = BrokenExecutor("a worker died")
    workers = Workers(context, None, 2)
    pools = own_pools(
        workers, monkeypatch, lambda job, _: broken if job is JOBS[3] else None
    )
    found = outcomes(workers)
    assert "lost with its worker: BrokenExecutor" in found[3]["error"]
    assert [o.get("of") for i, o in enumerate(found) if i != 3] == [
        j.structure for i, j in enumerate(JOBS) if i != 3
    ]
    assert len(pools) == 2 + module.ALONE_AT_MOST


def test_workers_killed_from_outside_cost_no_job(context, monkeypatch):
    state = {"left": 5}

    def unlucky(job, count):
        if count == 2 and state["left"]:
            state["left"] -= 1
            return BrokenExecutor("killed")
        return None

    workers = Workers(context, None, 2)
    own_pools(workers, monkeypatch, unlucky)
    assert is_done(outcomes(workers))


def test_ending_early_cancels_the_rest(context):
    class Never(Obedient):
        def submit(self, function, job, text):
            future = super().submit(function, job, text)
            if job is JOBS[0]:
                return future
            self.rest = [*getattr(self, "rest", []), Future()]
            return self.rest[-1]

    pool = Never()
    stream = Workers(context, pool).map(JOBS, lambda job, outcome: outcome)
    assert next(stream)["of"] == JOBS[0].structure
    stream.close()
    assert all(future.cancelled() for future in pool.rest)
