"""The order in which a search spends its effort."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from bokern.evidence import Evidence
from bokern.selection.attempt import Attempt
from bokern.selection.budget import Meter
from bokern.selection.candidate import Candidate
from bokern.selection.jobs import Job, Outcome, Theta
from bokern.selection.storage import candidate_from_json
from bokern.structures import Structure, parse
from bokern.structures.grammar import Proposal

WITHIN = 10.0
"""Nats behind the leader within which a structure goes on: the eventual winner was at
most so far behind after a first look."""

AVERAGED_WITHIN = 5.0
"""Nats behind the best within which structures share an average."""

LEADERS_WITHIN = 5.0
"""Nats behind the leader within which a structure is expanded."""

NESTED_SLACK = 0.01
"""Nats by which a structure may fall short of one that it contains."""

GAIN = 1.0
"""Nats that a round of expansion must gain for another one to follow."""

LOOKING, FITTING = "looking at structures", "fitting the best"
EARLY = (LOOKING, FITTING)
"""Stages that end where the budget does; the last steps are finished."""

Expand = Callable[[Structure], Sequence[Proposal]]
Run = Callable[[Sequence[Job]], Generator[Outcome]]


@dataclass(frozen=True)
class Plan:
    """How far a search goes.

    Args:
        rounds: Expansions at most.
        leaders: Structures that are expanded in a round.
        children: Structures that a round looks at, at most.
        converged: Structures of a round that are optimised to the end, at most,
            beside the best of each family at the start.
        scouted: Whether those that it begins with are looked at first, and dropped
            where they fall behind; else each is fitted to the end.
        confirmed: Leaders that are fitted once more, from all starts: a first look can
            miss a narrow optimum by 60 nats.
        settled: Structures that are fitted to all rows, if the search saw some only.
        smc: Finalists whose evidence is sampled, at most; 0 for none.
        smc_size: Rows times hyperparameters up to which they are.
        reserve: Share of the budget that is kept for the last step.
    """

    rounds: int = 8
    leaders: int = 2
    children: int = 32
    converged: int = 6
    scouted: bool = True
    confirmed: int = 4
    settled: int = 4
    smc: int = 6
    smc_size: float = math.inf
    reserve: float = 0.0


@dataclass
class State:
    """How far one structure has come."""

    structure: Structure
    parent: str = ""
    move: str = ""
    round: int = 0
    status: str = "unreached"
    score: float | None = None
    starts: tuple[Theta, ...] = ()
    candidate: Candidate | None = None
    error: str = ""
    unsampled: str = ""
    evaluations: int = 0
    seconds: float = 0.0
    rows: int = 0
    settled: bool = False
    afresh: bool = False
    expanded: bool = field(default=False, repr=False)

    @property
    def text(self) -> str:
        """The structure's text, columns by number."""
        return str(self.structure)

    def attempt(self, names: Sequence[str]) -> Attempt:
        """What the trace keeps, columns by name."""
        parent = str(parse(self.parent).named(names)) if self.parent else ""
        return Attempt(
            str(self.structure.named(names)),
            parent,
            self.move,
            self.round,
            self.score,
            self.status,
            self.evaluations,
            self.seconds,
            self.rows,
        )


class Schedule:
    """Looks at structures, drops those that fall behind, expands the leaders.

    Args:
        initial: Where it begins, in canonical form; the simplest is the baseline.
        known: Structures that need no first look, with starts for their fits.
        expand: Structures to be derived from one.
        plan: How far it goes.
        run: Does jobs and yields their outcomes in order; may end early.
        meter: What may be spent.
        some_rows: Whether all but the last step see some of the observations only.
    """

    def __init__(
        self,
        initial: Sequence[Structure],
        known: Mapping[Structure, Theta],
        expand: Expand,
        plan: Plan,
        run: Run,
        meter: Meter,
        some_rows: bool,
    ) -> None:
        self.plan = plan
        self.meter = meter
        self.some_rows = some_rows
        self._expand = expand
        self._run = run
        self.states: dict[str, State] = {str(s): State(s) for s in initial}
        for structure, theta in known.items():
            state = self.states.setdefault(str(structure), State(structure))
            state.starts = (theta,)
        self.complete = False
        """Whether it came to its end before the budget did."""
        self.remarks: list[str] = []
        """What the last steps left undone, in sentences."""
        self._cut = False

    # -- the whole ---------------------------------------------------------------

    def search(self) -> None:
        """All rounds; ends early, with what there is, when the budget is spent."""
        baseline = min(self.states.values(), key=lambda s: _size(s.structure))
        known = [s for s in self.states.values() if s.starts and s is not baseline]
        self._converge([baseline, *known])
        if not self.plan.scouted:
            self._converge([s for s in self.states.values() if s.candidate is None])
        others = [s for s in self.states.values() if s.candidate is None]
        parents = {
            s.text: baseline for s in others if s.structure.contains(baseline.structure)
        }
        self._scout(others, parents)
        self._converge(self._survivors(0))
        for number in range(1, self.plan.rounds + 1):
            if self._is_spent:
                return
            before = self._top
            children, derived = self._children(number)
            self._scout(children, derived)
            self._converge(self._survivors(number))
            if self._top < before + GAIN:
                self._confirm()
            if self._top < before + GAIN:
                break
        self._confirm()
        self.complete = not self._cut

    @property
    def converged(self) -> list[State]:
        """Those optimised to the end, best first."""
        found = [s for s in self.states.values() if s.candidate is not None]
        return sorted(found, key=lambda s: (-_value(s), s.text))

    @property
    def finished(self) -> list[State]:
        """Those fitted to all rows, best first."""
        return [s for s in self.converged if s.settled or not self.some_rows]

    def settle(self) -> None:
        """Fits the finalists to all rows, if the search saw some only."""
        if not self.some_rows:
            return
        best = self.converged
        chosen = [s for s in best if _value(s) > _value(best[0]) - WITHIN]
        chosen = chosen[: self.plan.settled] if not self._is_over else chosen[:1]
        jobs = [Job("settle", s.text, starts=s.starts) for s in chosen]
        self._collect(chosen, jobs, "fitting all rows", self._note_settled)

    def mend(self) -> None:
        """Starts again, from the contained one, whatever fell short of what it holds.

        The fit can only become better: it also starts from where it was.
        """
        fits = [(s, s.candidate.fit) for s in self.finished if s.candidate is not None]
        states, jobs = [], []
        for state, own in fits:
            parents = [
                (other.text, fit.theta)
                for other, fit in fits
                if other is not state
                and own.log_likelihood < fit.log_likelihood - NESTED_SLACK
                and state.structure.contains(other.structure)
            ]
            if parents:
                states.append(state)
                stage = "settle" if self.some_rows else "converge"
                jobs.append(Job(stage, state.text, tuple(parents), (own.theta,)))
        self._collect(states, jobs, "mending", self._note_fit)

    def sample(self, applies: Callable[[Evidence], bool]) -> None:
        """Samples the evidence of all finalists, or of none.

        Laplace's is the lower one: where some are sampled only, it is said.

        Args:
            applies: Whether a structure can be sampled.
        """
        best = self.finished
        finalists = [s for s in best if _value(s) > _value(best[0]) - WITHIN]
        finalists = finalists[: self.plan.smc]
        fits = [s.candidate for s in finalists if s.candidate is not None]
        if not all(applies(fit.evidence) for fit in fits):
            return
        jobs = [Job("smc", s.text, starts=s.starts[:1]) for s in finalists]
        self._collect(finalists, jobs, "sampling", self._note_sample)
        lost = [s for s in finalists if s.status != "finalist"]
        self.remarks += [
            f"the evidence of {s.structure} could not be sampled ({s.unsampled}): it "
            "stays Laplace's, which is lower by up to 2 nats"
            for s in lost
        ]
        close = [
            s
            for s in self.finished
            if s not in finalists and _value(s) > self._best_finished - AVERAGED_WITHIN
        ]
        if close:
            self.remarks.append(
                f"{len(close)} of the structures within {AVERAGED_WITHIN:g} nats of "
                "the best were not sampled: their evidence is Laplace's, which is "
                "lower by up to 2 nats"
            )

    @property
    def _best_finished(self) -> float:
        best = self.finished
        return _value(best[0]) if best else float("-inf")

    # -- rounds ------------------------------------------------------------------

    def _children(self, number: int) -> tuple[list[State], dict[str, State]]:
        """New structures derived from the leaders, in turn, and from which each is."""
        best = self.converged
        leaders = [
            s
            for s in best
            if not s.expanded and _value(s) > _value(best[0]) - LEADERS_WITHIN
        ][: self.plan.leaders]
        queues = []
        for leader in leaders:
            leader.expanded = True
            queues.append(list(self._expand(leader.structure)))
        children: list[State] = []
        derived: dict[str, State] = {}
        longest = max(map(len, queues), default=0)
        for i in range(longest):
            for leader, queue in zip(leaders, queues, strict=True):
                if i >= len(queue) or len(children) >= self.plan.children:
                    continue
                proposal = queue[i]
                text = str(proposal.structure)
                if text in self.states:
                    continue
                child = State(proposal.structure, leader.text, proposal.move, number)
                self.states[text] = child
                derived[text] = leader
                children.append(child)
        return children, derived

    def _survivors(self, number: int) -> list[State]:
        """Of those that were only looked at, the ones to optimise to the end."""
        looked_at = sorted(
            (s for s in self.states.values() if s.status == "scouted"),
            key=lambda s: (-_value(s), s.text),
        )
        if not looked_at:
            return []
        top = max(self._top, _value(looked_at[0]))
        close = [s for s in looked_at if _value(s) > top - WITHIN]
        chosen = close[: self.plan.converged]
        if number == 0:
            families = {s.structure.family for s in chosen}
            for state in looked_at:
                if state.structure.family not in families:
                    families.add(state.structure.family)
                    chosen.append(state)
        for state in looked_at:
            if state not in close and state not in chosen:
                state.status = "pruned"
        return chosen

    def _scout(self, states: list[State], parents: dict[str, State]) -> None:
        jobs = []
        for state in states:
            known = []
            parent = parents.get(state.text)
            if parent is not None and parent.starts:
                known.append((parent.text, parent.starts[0]))
            jobs.append(Job("scout", state.text, tuple(known)))
        self._collect(states, jobs, LOOKING, self._note_scout)

    def _converge(self, states: list[State]) -> None:
        jobs = [Job("converge", s.text, starts=s.starts) for s in states]
        for state in states:
            state.afresh = not state.starts
        self._collect(states, jobs, FITTING, self._note_fit)

    def _confirm(self) -> None:
        """Fits leaders again from where they are and from all starts."""
        best = self.converged
        leaders = [s for s in best if _value(s) > self._top - WITHIN]
        states = [s for s in leaders[: self.plan.confirmed] if not s.afresh]
        jobs = [Job("converge", s.text, starts=s.starts, afresh=True) for s in states]
        for state in states:
            state.afresh = True
        self._collect(states, jobs, FITTING, self._note_fit)

    # -- outcomes ----------------------------------------------------------------

    def _collect(
        self,
        states: Sequence[State],
        jobs: Sequence[Job],
        stage: str,
        note: Callable[[State, Outcome], None],
    ) -> None:
        leader = self.converged[0].text if self.converged else ""
        self.meter.show(stage, leader)
        with closing(self._run(jobs)) as outcomes:
            for state, outcome in zip(states, outcomes, strict=False):
                state.evaluations += outcome["evaluations"]
                state.seconds += outcome["seconds"]
                self.meter.spend(outcome["evaluations"])
                if "error" not in outcome:
                    note(state, outcome)
                    state.error = ""
                elif state.candidate is None or note == self._note_settled:
                    state.error, state.status = outcome["error"], "failed"
                elif note == self._note_sample:
                    state.unsampled = outcome["error"]
                self.meter.show(stage, leader)
                if self._is_spent and stage in EARLY and self.converged:
                    self._cut = self._cut or state is not states[-1]
                    return

    def _note_scout(self, state: State, outcome: Outcome) -> None:
        state.starts = tuple(tuple(row) for row in outcome["theta"])
        state.score, state.rows = outcome["score"], outcome["rows"]
        state.status = "scouted"

    def _note_fit(self, state: State, outcome: Outcome) -> None:
        state.candidate = candidate_from_json(outcome["candidate"])
        state.starts = (state.candidate.fit.theta,)
        state.score, state.rows = outcome["score"], outcome["rows"]
        state.status = "converged"

    def _note_settled(self, state: State, outcome: Outcome) -> None:
        self._note_fit(state, outcome)
        state.settled = True

    def _note_sample(self, state: State, outcome: Outcome) -> None:
        assert state.candidate is not None
        sampled = Evidence.from_json(outcome["evidence"])
        fitted = state.candidate.evidence
        # Flags and restarts are those of the fit, which the sampling does not see.
        evidence = replace(
            sampled,
            restarts=fitted.restarts,
            restart_hits=fitted.restart_hits,
            seed=fitted.seed,
            flags=tuple(f for f in fitted.flags if f != "NOT_AT_OPTIMUM"),
        )
        state.candidate = replace(state.candidate, evidence=evidence)
        state.score = sampled.log_evidence
        state.status = "finalist"

    @property
    def _top(self) -> float:
        best = self.converged
        return _value(best[0]) if best else float("-inf")

    @property
    def _is_spent(self) -> bool:
        return self.meter.share >= 1.0 - self.plan.reserve

    @property
    def _is_over(self) -> bool:
        return self.meter.share >= 1.0


def _value(state: State) -> float:
    return float("-inf") if state.score is None else state.score


def _size(structure: Structure) -> int:
    return sum(1 for _ in structure.nodes())
