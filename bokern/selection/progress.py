"""What a search has done so far, and how the outcomes of jobs enter it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing

from bokern.selection.budget import Meter, charge
from bokern.selection.jobs import Job, Outcome, Theta
from bokern.selection.state import State
from bokern.selection.storage import candidate_from_json
from bokern.structures import Structure

Run = Callable[[Sequence[Job]], Generator[Outcome]]
Note = Callable[[State, Outcome], None]


class Progress:
    """The structures of a search, by their texts, and the budget.

    Args:
        initial: Where it begins.
        known: Structures that need no first look, with starts for their fits.
        run: Does jobs and yields their outcomes in order; may end early.
        meter: What may be spent.
        rows: Observations that all but the last step look at; 0 for all.
    """

    def __init__(
        self,
        initial: Sequence[Structure],
        known: Mapping[Structure, Theta],
        run: Run,
        meter: Meter,
        rows: int = 0,
    ) -> None:
        self.meter = meter
        self.rows = rows
        self._run = run
        self.states: dict[str, State] = {str(s): State(s) for s in initial}
        for structure, theta in known.items():
            state = self.states.setdefault(str(structure), State(structure))
            state.starts = (theta,)
        self.cut = False
        """Whether work was left undone when the budget was spent."""

    @property
    def some_rows(self) -> bool:
        """Whether all but the last step look at some of the observations only."""
        return self.rows > 0

    @property
    def converged(self) -> list[State]:
        """Those optimised to the end, best first."""
        found = [s for s in self.states.values() if s.candidate is not None]
        return sorted(found, key=lambda s: (-s.value, s.text))

    @property
    def finished(self) -> list[State]:
        """Those fitted to the rows of the last step, best first."""
        return [s for s in self.converged if s.settled or not self.some_rows]

    @property
    def top(self) -> float:
        """The best score of those optimised to the end; −inf without any."""
        best = self.converged
        return best[0].value if best else float("-inf")

    def collect(
        self,
        states: Sequence[State],
        jobs: Sequence[Job],
        stage: str,
        note: Note,
        *,
        failed: Note | None = None,
        stop: Callable[[], bool] = lambda: False,
        least: int = 0,
    ) -> None:
        """Has jobs done, one for each state, and notes their outcomes in order.

        Args:
            states: Of the structures.
            jobs: As many.
            stage: In words, for the progress bar.
            note: What is done with an outcome.
            failed: What is done with one that is an error.
            stop: Whether to leave the other jobs undone, asked after each.
            least: Jobs that are done in any case.
        """
        failed = note_failure if failed is None else failed
        leader = self.converged[0].text if self.converged else ""
        self.meter.show(stage, leader)
        if jobs and least == 0 and stop():
            self.cut = True
            return
        with closing(self._run(jobs)) as outcomes:
            pairs = zip(states, outcomes, strict=False)
            for number, (state, outcome) in enumerate(pairs, start=1):
                state.seconds += outcome["seconds"]
                state.evaluations += outcome["evaluations"]
                if jobs[number - 1].stage != "smc":
                    self.meter.spend(charge(state.structure, outcome["evaluations"]))
                (failed if "error" in outcome else note)(state, outcome)
                self.meter.show(stage, leader)
                if least <= number < len(jobs) and stop():
                    self.cut = True
                    return


def note_scout(state: State, outcome: Outcome) -> None:
    """A first look."""
    state.starts = tuple(tuple(row) for row in outcome["theta"])
    state.score, state.rows = outcome["score"], outcome["rows"]
    state.status, state.error = "scouted", ""


def note_fit(state: State, outcome: Outcome) -> None:
    """A fit to the end."""
    state.candidate = candidate_from_json(outcome["candidate"])
    state.starts = (state.candidate.fit.theta,)
    state.score, state.rows = outcome["score"], outcome["rows"]
    state.status, state.error = "converged", ""


def note_settled(state: State, outcome: Outcome) -> None:
    """A fit to the rows of the last step."""
    note_fit(state, outcome)
    state.settled = True


def note_failure(state: State, outcome: Outcome) -> None:
    """A failure; it takes nothing from a structure that was fitted before."""
    if state.candidate is None:
        state.error, state.status = outcome["error"], "failed"


def note_unsettled(state: State, outcome: Outcome) -> None:
    """A failure of the last step, of which a structure has no result without it."""
    state.error = outcome["error"]
