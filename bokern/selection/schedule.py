"""The order in which a search spends its effort."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bokern.selection.budget import Meter
from bokern.selection.jobs import Job, Theta
from bokern.selection.last_steps import WITHIN
from bokern.selection.progress import Progress, Run, note_fit, note_scout
from bokern.selection.state import State
from bokern.structures import Structure
from bokern.structures.grammar import Proposal

LEADERS_WITHIN = 5.0
"""Nats behind the leader within which a structure is expanded."""

GAIN = 1.0
"""Nats that a round of expansion must gain for another one to follow."""

LOOKING, FITTING = "looking at structures", "fitting the best"

Expand = Callable[[Structure], Sequence[Proposal]]


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
        smc: Finalists whose evidence is sampled, at most; 0 for none. If more of them
            are close to the best, none is.
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
    smc: float = 12
    smc_size: float = math.inf
    reserve: float = 0.0


class Schedule:
    """Looks at structures, drops those that fall behind, expands the leaders.

    Args:
        initial: Where it begins, in canonical form; the simplest is the baseline.
        known: Structures that need no first look, with starts for their fits.
        expand: Structures to be derived from one.
        plan: How far it goes.
        run: Does jobs and yields their outcomes in order; may end early.
        meter: What may be spent.
        rows: Observations that it looks at, drawn at random; 0 for all. If not all,
            finalists are to be settled.
    """

    def __init__(
        self,
        initial: Sequence[Structure],
        known: Mapping[Structure, Theta],
        expand: Expand,
        plan: Plan,
        run: Run,
        meter: Meter,
        rows: int = 0,
    ) -> None:
        self.plan = plan
        self.progress = Progress(initial, known, run, meter, rows)
        self._expand = expand

    # -- the whole ---------------------------------------------------------------

    def search(self) -> None:
        """All rounds; ends early, with what there is, when the budget is spent."""
        states = self.progress.states
        baseline = min(states.values(), key=lambda s: _size(s.structure))
        known = [s for s in states.values() if s.starts and s is not baseline]
        self._converge([baseline, *known])
        if not self.plan.scouted:
            self._converge([s for s in states.values() if s.candidate is None])
        others = [s for s in states.values() if s.candidate is None]
        parents = {
            s.text: baseline for s in others if s.structure.contains(baseline.structure)
        }
        self._scout(others, parents)
        self._converge(self._survivors(0))
        for number in range(1, self.plan.rounds + 1):
            if self._is_spent:
                self.progress.cut |= any(self._queues(self._leaders()))
                return
            before = self.progress.top
            children, derived = self._children(number)
            self._scout(children, derived)
            self._converge(self._survivors(number))
            if self.progress.top < before + GAIN:
                self._confirm()
            if self.progress.top < before + GAIN:
                break
        self._confirm()

    # -- rounds ------------------------------------------------------------------

    def _leaders(self) -> list[State]:
        """Those to be expanded next."""
        top = self.progress.top
        return [
            s
            for s in self.progress.converged
            if not s.expanded and s.value > top - LEADERS_WITHIN
        ][: self.plan.leaders]

    def _queues(self, leaders: Sequence[State]) -> list[list[Proposal]]:
        """What is new of each leader's expansions."""
        return [
            [
                proposal
                for proposal in self._expand(leader.structure)
                if str(proposal.structure) not in self.progress.states
            ]
            for leader in leaders
        ]

    def _children(self, number: int) -> tuple[list[State], dict[str, State]]:
        """New structures derived from the leaders, in turn, and from which each is."""
        leaders = self._leaders()
        queues = self._queues(leaders)
        for leader in leaders:
            leader.expanded = True
        children: list[State] = []
        derived: dict[str, State] = {}
        longest = max(map(len, queues), default=0)
        for i in range(longest):
            for leader, queue in zip(leaders, queues, strict=True):
                if i >= len(queue) or len(children) >= self.plan.children:
                    continue
                proposal = queue[i]
                text = str(proposal.structure)
                if text in self.progress.states:
                    continue
                child = State(proposal.structure, leader.text, proposal.move, number)
                self.progress.states[text] = child
                derived[text] = leader
                children.append(child)
        return children, derived

    def _survivors(self, number: int) -> list[State]:
        """Of those that were only looked at, the ones to optimise to the end."""
        looked_at = sorted(
            (s for s in self.progress.states.values() if s.status == "scouted"),
            key=lambda s: (-s.value, s.text),
        )
        if not looked_at:
            return []
        top = max(self.progress.top, looked_at[0].value)
        close = [s for s in looked_at if s.value > top - WITHIN]
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
            jobs.append(Job("scout", state.text, tuple(known), rows=self.progress.rows))
        # Once the budget is spent, the best that was looked at is still fitted, but
        # nothing more is looked at.
        self.progress.collect(states, jobs, LOOKING, note_scout, stop=self._ends)

    def _converge(self, states: list[State]) -> None:
        for state in states:
            state.afresh = not state.starts
        self._fit(states, least=1)

    def _confirm(self) -> None:
        """Fits leaders again from where they are and from all starts."""
        leaders = [
            s for s in self.progress.converged if s.value > self.progress.top - WITHIN
        ]
        states = [s for s in leaders[: self.plan.confirmed] if not s.afresh]
        for state in states:
            state.afresh = True
        self._fit(states, least=0, afresh=True)

    def _fit(self, states: list[State], least: int, afresh: bool = False) -> None:
        jobs = [
            Job(
                "converge",
                s.text,
                starts=s.starts,
                afresh=afresh,
                rows=self.progress.rows,
            )
            for s in states
        ]
        self.progress.collect(
            states, jobs, FITTING, note_fit, stop=self._ends, least=least
        )

    # -- the budget --------------------------------------------------------------

    @property
    def _is_spent(self) -> bool:
        return self.progress.meter.share >= 1.0 - self.plan.reserve

    def _ends(self) -> bool:
        """Whether the budget ends a stage: not before there is a result."""
        return self._is_spent and bool(self.progress.converged)


def _size(structure: Structure) -> int:
    return sum(1 for _ in structure.nodes())
