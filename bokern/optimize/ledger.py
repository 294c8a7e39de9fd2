"""The trials of a study, in step with its log."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any

from bokern.errors import InputError, TrialError
from bokern.optimize.events import Body
from bokern.optimize.log import EventLog, Lease
from bokern.optimize.mirror import Candidate
from bokern.optimize.state import State
from bokern.optimize.trial import INITIAL, PENDING, Trial

ROWS, CHARACTERS = 1000, 2**22
"""Past trials in one event, and about how long they are as JSON, at most."""

FOREVER = 1e12
"""The end of a lease that has none, in seconds since 1970."""


class Ledger:
    """Reads what others wrote, and writes nothing that contradicts it.

    Args:
        log: Of the study.

    Attributes:
        state: What the events read so far add up to.
    """

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.state = State()
        self.refresh()

    def refresh(self) -> None:
        """Reads what was written since, by whomever."""
        for event in self.log.read(*self.state.position):
            self.state.apply(event)

    def append(self, kind: str, body: Body, lease: Lease | None = None) -> bool:
        """Adds an event unless others wrote since the last look; then looks again.

        Returns:
            Whether it was added.
        """
        number = self.state.number
        added = self.log.append(
            lambda newest: (kind, body) if newest == number else None,
            lambda: self.state.position,
            lease,
        )
        self.refresh()
        return added

    def find(self, number: int) -> Trial:
        """A trial by its number.

        Raises:
            TrialError: If there is none.
        """
        found = self.state.trials.get(number)
        if found is None:
            count = len(self.state.trials)
            raise TrialError(
                f"there is no trial {number}: this study has {count}"
                + (f", numbered up to {self.state.next_id - 1}" if count else "")
            )
        return found

    def ask(
        self, candidate: Candidate, start: float, seconds: float | None, strict: bool
    ) -> int | None:
        """Stores a candidate as a pending trial.

        Others may have written meanwhile. Outcomes do no harm, but a trial that others
        asked for is one that the candidate did not know of: it may be the same point.

        Args:
            candidate: The point.
            start: When its choice began, by `time.perf_counter`.
            seconds: Of its lease; None for none.
            strict: Whether it must be chosen anew if others asked for any trial
                meanwhile, rather than for the same point.

        Returns:
            The number of the trial; None if the candidate must be chosen anew.
        """
        known = set(self.state.trials)
        while True:
            number = self.state.next_id
            asked = {
                "trial": number,
                "parameters": candidate.parameters,
                "generator": candidate.generator,
                "structure": candidate.structure,
                "record": candidate.record,
                "seconds": time.perf_counter() - start,
            }
            held = seconds and Lease(number, time.time() + seconds, me())
            if self.append("asked", asked, held or None):
                return number
            others = [t for i, t in self.state.trials.items() if i not in known]
            same = any(t.parameters == candidate.parameters for t in others)
            if candidate.generator != INITIAL and (same or (others and strict)):
                return None

    def end(self, number: int, kind: str, outcome: Body) -> Trial:
        """Stores how a pending trial ended.

        Args:
            number: Of the trial.
            kind: ``"told"`` or ``"failed"``.
            outcome: ``values`` and ``sems``, or the ``reason``.

        Raises:
            TrialError: If there is no such trial, or it has ended already.
        """
        self.refresh()
        while True:
            found = self.find(number)
            if found.status != PENDING:
                raise TrialError(
                    f"trial {number} is {found.status} already"
                    + (f" with {dict(found.values)}" if found.values else "")
                    + ": what is stored stays; tell its parameters to add another "
                    "observation of the same point"
                )
            body = {"trial": number, "parameters": dict(found.parameters), **outcome}
            if self.append(kind, body):
                return self.find(number)

    def add(self, bodies: Sequence[Body]) -> list[int]:
        """Stores trials that have ended.

        Returns:
            Their numbers.
        """
        numbers: list[int] = []
        for chunk in _chunks(bodies):
            while True:
                first = self.state.next_id
                ids = range(first, first + len(chunk))
                rows = [{"trial": i, **b} for i, b in zip(ids, chunk, strict=True)]
                if self.append("added", {"trials": rows}):
                    numbers += ids
                    break
        return numbers

    def reissued(self, seconds: float | None) -> int | None:
        """Hands out a pending trial again whose lease has run out.

        Args:
            seconds: Of the new lease; None for none.

        Returns:
            Its number; None if there is no such trial.
        """
        while True:
            orphan = self._orphan()
            if orphan is None:
                return None
            # Without a lease it is nobody's but who has it now.
            until = FOREVER if seconds is None else time.time() + seconds
            lease = Lease(orphan, until, me())
            if self.append("reissued", {"trial": orphan}, lease):
                return orphan

    def _orphan(self) -> int | None:
        """A pending trial that nobody is at work on any more."""
        pending = self.state.of(PENDING)
        if not pending:
            return None
        leases = self.log.leases()
        now = time.time()
        for trial in pending:
            lease = leases.get(trial.id)
            if lease is not None and (lease.until < now or is_gone(lease.holder)):
                return trial.id
        return None

    def lease(self, numbers: Sequence[int], seconds: float | None) -> None:
        """Has pending trials handed out again after so many seconds; None for never.

        Raises:
            TrialError: If there is no such trial.
        """
        until = FOREVER if seconds is None else time.time() + seconds
        self.log.lease([Lease(self.find(i).id, until, me()) for i in numbers])


def _chunks(bodies: Sequence[Body]) -> Iterator[list[Body]]:
    """Past trials as they fit into events."""
    chunk: list[Body] = []
    length = 0
    for body in bodies:
        size = len(json.dumps(body))
        if chunk and (len(chunk) == ROWS or length + size > CHARACTERS):
            yield chunk
            chunk, length = [], 0
        chunk.append(body)
        length += size
    if chunk:
        yield chunk


def read_lease(lease: Any) -> float | None:
    """Seconds of a lease; None for none.

    Raises:
        InputError: If it is no number above 0.
    """
    if lease is None:
        return None
    number: Any = lease if isinstance(lease, Real) and lease is not True else -1
    if number > 0:
        return float(min(number, FOREVER))
    raise InputError(
        f"lease= is a number of seconds > 0, got {lease!r:.60}: leave it out for a "
        "trial that is not to be handed out again"
    )


def me() -> str:
    """Host and process, as leases name them."""
    return f"{socket.gethostname()[:150]}:{os.getpid()}"


def is_gone(holder: str) -> bool:
    """Whether a holder was a process of this host that has ended."""
    host, _, process = holder.rpartition(":")
    if os.name == "nt" or host != socket.gethostname()[:150] or not process.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
