"""Which transform of the outcome the data support, by evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import torch

from bokern import seeding
from bokern.build import unfitted
from bokern.errors import BokernError, FitError, TimeLimitError
from bokern.evidence import laplace
from bokern.inputs import Observations
from bokern.models import StructuredGP
from bokern.models.outcome import (
    IDENTITY,
    LOG,
    YEO_JOHNSON,
    read_outcome,
    yeo_johnson_text,
)
from bokern.models.outcome_power import refit
from bokern.selection.candidate import Settings
from bokern.selection.power_integral import NO_POWER, integrate_power
from bokern.structures import Matern

AUTO = "auto"
BASELINE = Matern(2.5)
PREFERRED_ABOVE = 1.0
"""Nats below which the evidence prefers nothing: outcomes stay as they are."""

MAX_ROWS = 200
"""More rows seldom change which transform wins, only what it costs."""


@dataclass(frozen=True)
class OutcomeRow:
    """A transform that was tried.

    Args:
        transform: Its text; that of Yeo–Johnson has its best power.
        log_evidence: Of the baseline under it, nats of the raw targets; a power is
            integrated out. None where it could not be tried.
        reason: Why it could not be tried.
    """

    transform: str
    log_evidence: float | None
    reason: str = ""

    @property
    def power(self) -> float | None:
        """λ, of Yeo–Johnson."""
        return read_outcome(self.transform)[1]


@dataclass(frozen=True)
class OutcomeChoice:
    """The transform to use, and why.

    Args:
        text: As `bokern.fit` takes it, a power included.
        rows: What was tried; none where nothing had to be.
        note: The reason in a sentence; empty where there is nothing to say.
        evaluations: Of the likelihood.
    """

    text: str
    rows: tuple[OutcomeRow, ...] = ()
    note: str = ""
    evaluations: int = 0

    @property
    def table(self) -> pd.DataFrame:
        """A row a transform, evidences in nats of the raw targets."""
        columns = ["transform", "power", "log_evidence", "reason"]
        rows = [[getattr(row, name) for name in columns] for row in self.rows]
        return pd.DataFrame(rows, columns=columns)


def choose_outcome(
    data: Observations, settings: Settings, what: str = AUTO
) -> OutcomeChoice:
    """Chooses the transform of the outcome, once for all structures.

    The plain baseline is fitted under each transform, and its evidences compared on the
    scale of the raw targets. Outcomes stay as they are unless a transform gains more
    than 1 nat. Yeo–Johnson pays for its power, which is integrated out.

    Cost: 9 fits of the baseline, 8 of them from warm starts, on at most 200 rows.

    Args:
        data: Checked.
        settings: How structures are fitted; its outcome is not read.
        what: ``"auto"``; ``"yeo-johnson"``, to choose the power only; any other text
            that `bokern.fit` takes is checked and returned.

    Raises:
        InputError: If the text is unknown or does not suit the data.
        FitError: If the baseline cannot be fitted.
        TimeLimitError: If it takes longer than a surrounding `time_limit`.
    """
    if what == AUTO:
        return _automatic(data, settings)
    name, power = read_outcome(what)
    if name != YEO_JOHNSON or power is not None:
        unfitted(BASELINE, data, **_options(settings, what))
        note = f"targets were transformed by {what}, as asked"
        return OutcomeChoice(what, note="" if name == IDENTITY else note)
    unfitted(BASELINE, data, **_options(settings, yeo_johnson_text(NO_POWER)))
    trial = _Trial(data, settings)
    row = trial.yeo_johnson()
    rows = (trial.identity, row)
    return OutcomeChoice(row.transform, rows, trial.note(row), trial.evaluations)


def with_outcome(
    data: Observations, settings: Settings, what: str
) -> tuple[Observations, Settings]:
    """Data with a note on the transform, and settings with its text.

    Args:
        data: Checked.
        settings: How structures are fitted.
        what: See `choose_outcome`.
    """
    return with_choice(data, settings, choose_outcome(data, settings, what))


def with_choice(
    data: Observations, settings: Settings, choice: OutcomeChoice
) -> tuple[Observations, Settings]:
    """Data with a note on a choice, and settings with its text."""
    notes = (*data.notes, choice.note) if choice.note else data.notes
    return replace(data, notes=notes), replace(settings, outcome=choice.text)


def _automatic(data: Observations, settings: Settings) -> OutcomeChoice:
    if data.noise is not None:
        note = "targets were not transformed: their noise is known in raw units only"
        return OutcomeChoice(IDENTITY, note=note)
    trial = _Trial(data, settings)
    rows = (trial.identity, trial.log(), trial.yeo_johnson())
    best = max(rows[1:], key=trial.gain)
    if trial.gain(best) > PREFERRED_ABOVE:
        return OutcomeChoice(best.transform, rows, trial.note(best), trial.evaluations)
    note = f"targets were not transformed: at best {trial.gain(best):+.1f} nats"
    return OutcomeChoice(IDENTITY, rows, note, trial.evaluations)


class _Trial:
    """The baseline under one transform after the other, on the same rows."""

    def __init__(self, data: Observations, settings: Settings) -> None:
        self.settings = settings
        self.total = len(data.y)
        self.data = _some_rows(data, settings.seed)
        self.evaluations = 0
        self.plain, value = self._fit(IDENTITY, [])
        self.identity = OutcomeRow(IDENTITY, value)

    def gain(self, row: OutcomeRow) -> float:
        """Nats over none; −inf where it could not be tried."""
        assert self.identity.log_evidence is not None
        if row.log_evidence is None:
            return -torch.inf
        return row.log_evidence - self.identity.log_evidence

    def note(self, row: OutcomeRow) -> str:
        """What a transform gained, in a sentence."""
        rows = len(self.data.y)
        on = f" on {rows} of {self.total} rows" if rows < self.total else ""
        return (
            f"targets were transformed by {row.transform}: {self.gain(row):.1f} nats "
            f"over none{on}"
        )

    def log(self) -> OutcomeRow:
        """Its evidence, where targets are positive."""
        try:
            return OutcomeRow(LOG, self._fit(LOG, [self.plain])[1])
        except TimeLimitError:
            raise
        except (BokernError, RuntimeError, ValueError) as error:
            return OutcomeRow(LOG, None, str(error))

    def yeo_johnson(self) -> OutcomeRow:
        """Its evidence with the power integrated out, and the best power."""
        assert self.identity.log_evidence is not None
        fits = {NO_POWER: self.plain}

        def log_evidence(power: float) -> float | None:
            nearest = fits[min(fits, key=lambda other: abs(other - power))]
            like = [nearest] if nearest is self.plain else [nearest, self.plain]
            try:
                fits[power], value = self._fit(yeo_johnson_text(power), like)
            except TimeLimitError:
                raise
            except (BokernError, RuntimeError, ValueError):
                return None
            return value

        found = integrate_power(log_evidence, self.identity.log_evidence)
        return OutcomeRow(yeo_johnson_text(found.power), found.log_evidence)

    def _fit(
        self, outcome: str, like: list[StructuredGP]
    ) -> tuple[StructuredGP, float]:
        options = _options(self.settings, outcome)
        model = unfitted(BASELINE, self.data, **options)
        model = refit(model, like) if like else model.fit()
        evidence = laplace(model)
        value = evidence.log_evidence
        if model.fit_result is not None:
            self.evaluations += model.fit_result.evaluations
        self.evaluations += evidence.n_hyperparameters
        if not torch.isfinite(torch.tensor(value)):
            raise FitError(f"the log evidence under {outcome} is {value}")
        return model, value


def _options(settings: Settings, outcome: str) -> dict[str, Any]:
    return settings.options() | {"outcome": outcome}


def _some_rows(data: Observations, seed: int) -> Observations:
    n = len(data.y)
    if n <= MAX_ROWS:
        return data
    generator = seeding.generator("outcome", seed)
    rows = torch.randperm(n, generator=generator)[:MAX_ROWS].to(data.y.device)
    return replace(data, X=data.X[rows], y=data.y[rows])
