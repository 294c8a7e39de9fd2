"""What the events of a study add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bokern.errors import StorageError
from bokern.optimize.events import ROOT, Event
from bokern.optimize.settings import Options, Problem, read_created
from bokern.optimize.trial import COMPLETED, FAILED, Trial
from bokern.optimize.values import Numbers, read_values


class State:
    """Trials of a study, event by event.

    Attributes:
        number: Of the newest event.
        link: Its link of the chain.
        trials: By their ids, in their order.
        changed: Ids of trials that events changed since the last `take_changed`.
    """

    def __init__(self) -> None:
        self.number = 0
        self.link = ROOT
        self.trials: dict[int, Trial] = {}
        self.changed: dict[int, None] = {}
        self._problem: Problem | None = None
        self.options = Options()

    @property
    def problem(self) -> Problem:
        """What is optimised.

        Raises:
            StorageError: If no event has said so.
        """
        if self._problem is None:
            raise StorageError("the study has no first event")
        return self._problem

    @property
    def position(self) -> tuple[int, str]:
        """Number and link of the newest event."""
        return self.number, self.link

    @property
    def exists(self) -> bool:
        """Whether the study was begun."""
        return self._problem is not None

    @property
    def next_id(self) -> int:
        """Of the next trial."""
        return max(self.trials, default=-1) + 1

    def of(self, status: str) -> list[Trial]:
        """The trials of a status."""
        return [t for t in self.trials.values() if t.status == status]

    def take_changed(self) -> list[Trial]:
        """Trials that changed since this was last called, in the order of change."""
        changed = [self.trials[i] for i in self.changed]
        self.changed = {}
        return changed

    def apply(self, event: Event) -> None:
        """Takes in the next event.

        Raises:
            StorageError: If it is malformed, or of a kind that is not known.
        """
        details = event.details()
        try:
            self._take(event, details)
        except (
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            ArithmeticError,
        ) as error:
            raise StorageError(
                f"event {event.number} ({event.kind}) cannot be read, {error!r:.200}: "
                "it was written by a newer bokern, which is to be installed, or not by "
                "bokern at all"
            ) from error
        self.number, self.link = event.number, event.link

    def _take(self, event: Event, details: Mapping[str, Any]) -> None:
        match event.kind:
            case "created":
                self._problem, self.options = read_created(details)
            case "configured":
                self.options = Options.read(details["options"], self.options)
            case "asked":
                seconds = float(details["seconds"])
                self._put(
                    Trial(
                        id=int(details["trial"]),
                        parameters=self._parameters(details["parameters"]),
                        generator=str(details["generator"]),
                        structure=str(details["structure"]),
                        asked_at=event.at - seconds,
                        record=_record(details["record"]),
                    )
                )
            case "reissued":
                trial = self.trials[int(details["trial"])]
                self._put(replace(trial, attempt=trial.attempt + 1))
            case "told" | "failed":
                self._end(self._known(details, event), details, event.at)
            case "added":
                for each in details["trials"]:
                    trial = Trial(
                        id=int(each["trial"]),
                        parameters=self._parameters(each["parameters"]),
                        asked_at=event.at,
                    )
                    self._end(trial, each, event.at)
            case "repaired":
                pass
            case _:
                raise StorageError(
                    f"event {event.number} is of the unknown kind {event.kind!r:.40}: "
                    "it was written by a newer bokern, which is to be installed"
                )

    def _known(self, details: Mapping[str, Any], event: Event) -> Trial:
        """The trial that an event ends; after a repair its beginning may be lost."""
        number = int(details["trial"])
        if number in self.trials:
            return self.trials[number]
        parameters = self._parameters(details["parameters"])
        return Trial(number, parameters, asked_at=event.at)

    def _end(self, trial: Trial, details: Mapping[str, Any], at: float) -> None:
        values: Numbers = {}
        sems: dict[str, float | None] = {}
        if details.get("values"):
            told = dict(details["values"]), dict(details.get("sems", {}))
            values, sems = read_values(*told, self.problem.outcomes)
        self._put(
            replace(
                trial,
                status=COMPLETED if values else FAILED,
                values=values,
                sems=sems,
                reason=str(details.get("reason", "")),
                ended_at=at,
                seconds=max(0.0, at - trial.asked_at),  # clocks may differ
            )
        )

    def _parameters(self, found: Mapping[str, Any]) -> dict[str, Any]:
        return {p.name: p.check(found[p.name]) for p in self.problem.parameters}

    def _put(self, trial: Trial) -> None:
        self.trials[trial.id] = trial
        self.changed[trial.id] = None


def _record(found: Any) -> Mapping[str, Any] | None:
    if found is None or isinstance(found, Mapping):
        return found
    raise TypeError(f"a record is a JSON object, got {found!r:.60}")
