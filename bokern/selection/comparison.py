"""The outcome of a comparison."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor

from bokern.build import restored, unfitted
from bokern.errors import InputError, StorageError
from bokern.evidence import AVERAGE_WITHIN, FLAGS, Evidence, preference
from bokern.inputs import Observations
from bokern.models import MixtureGP, StructuredGP
from bokern.selection import storage
from bokern.selection.attempt import Attempt, trace_table
from bokern.selection.candidate import Candidate, Settings
from bokern.selection.explanation import Explanation, explain
from bokern.selection.storage import Contents
from bokern.selection.structure_prior import structure_log_prior
from bokern.structures import Structure, as_structure, parse

SHOWN = 12
"""Rows of a printed table."""

KINDS = frozenset(
    {
        "stationary",
        "nonstationary",
        "composite",
        "warped",
        "deep",
        "invariant",
        "composition",
    }
)
"""Kinds that are known even where no candidate has one."""


class Comparison:
    """Structures ranked by posterior probability, best first.

    The evidence alone would name the luckiest of the many structures that a search
    tries; the prior shares the mass of a family among its variants.

    Attributes:
        candidates: The fitted structures, ranked by log evidence + log prior.
        log_priors: Of the candidates, nats.
        probabilities: Of the candidates, given what was compared.
        data: The checked data, raw units.
        settings: How they were fitted.
        failures: Text and reason of structures that could not be fitted.
        remarks: What was assumed or left out, in sentences.
        trace: Every structure that a search looked at, in the order in which it did;
            empty for a plain comparison.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        data: Observations,
        settings: Settings,
        failures: tuple[tuple[str, str], ...] = (),
        remarks: tuple[str, ...] = (),
        trace: tuple[Attempt, ...] = (),
    ) -> None:
        priors = _log_priors(
            [c.structure for c in candidates], trace, data.column_names
        )
        joint = [
            c.evidence.log_evidence + prior
            for c, prior in zip(candidates, priors, strict=True)
        ]
        order = sorted(range(len(joint)), key=lambda i: joint[i], reverse=True)
        self.candidates = tuple(candidates[i] for i in order)
        self.log_priors = tuple(priors[i] for i in order)
        ranked = torch.tensor([joint[i] for i in order], dtype=torch.float64)
        self.probabilities = tuple(torch.softmax(ranked, 0).tolist())
        self.data = data
        self.settings = settings
        self.failures = failures
        self.remarks = remarks
        self.trace = trace

    # -- what was found --------------------------------------------------------

    @property
    def structures(self) -> tuple[Structure, ...]:
        """Ranked."""
        return tuple(c.structure for c in self.candidates)

    @property
    def evidences(self) -> list[Evidence]:
        """Ranked."""
        return [c.evidence for c in self.candidates]

    @property
    def best(self) -> Structure:
        """The most probable structure."""
        return self.candidates[0].structure

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row a structure, best first; evidences in nats of the raw targets.

        ``gap`` is the log evidence less that of the best: above 0 for one that the data
        prefer, but that was less probable before them.
        """
        top = self.candidates[0].evidence.log_evidence
        rows = []
        for candidate, log_prior, probability in zip(
            self.candidates, self.log_priors, self.probabilities, strict=True
        ):
            e = candidate.evidence
            rows.append(
                {
                    "structure": str(candidate.structure),
                    "log_evidence": e.log_evidence,
                    "standard_error": e.standard_error,
                    "gap": e.log_evidence - top,
                    "log_prior": log_prior,
                    "probability": probability,
                    "family": candidate.structure.family,
                    "hyperparameters": e.n_hyperparameters,
                    "effective_hyperparameters": e.effective_hyperparameters,
                    "bic": e.bic,
                    "leave_one_out": e.leave_one_out,
                    "flags": " ".join(e.flags),
                    "seconds": e.seconds,
                }
            )
        return pd.DataFrame(rows)

    @cached_property
    def priors(self) -> pd.DataFrame:
        """Prior and fitted value of every hyperparameter of every structure.

        Inputs are in units of the box, outcomes z-scored if ``standardize``.
        """
        return pd.DataFrame(
            [
                (str(c.structure), *row)
                for c in self.candidates
                for row in c.hyperparameters
            ],
            columns=["structure", "hyperparameter", "prior", "fitted"],
        )

    @property
    def trace_table(self) -> pd.DataFrame:
        """A row for every structure that a search looked at; see `Attempt`."""
        return trace_table(self.trace)

    def probability(self, what: str | Structure | Callable[[Structure], bool]) -> float:
        """Posterior probability of a kind of structure, given those compared.

        Args:
            what: A kind (``"invariant"``, ``"warped"``, ``"deep"``, ``"composite"``,
                ``"stationary"``, ``"nonstationary"``, ``"composition"``), a structure
                or its text, or a predicate of structures.

        Raises:
            InputError: If it is none of these, or was not compared.
        """
        kinds = {kind for s in self.structures for kind in s.kinds} | KINDS
        if isinstance(what, str) and what in kinds:
            return self._sum(lambda s: what in s.kinds)
        word = isinstance(what, str) and what.isidentifier()
        if isinstance(what, str | Structure) and not word:
            found = self._find(what)
            return self._sum(lambda s: s == found.structure)
        if callable(what):
            return self._sum(what)
        raise InputError(
            f"probability expects a kind ({', '.join(sorted(kinds))}), a structure or "
            f"a predicate, got {what!r:.60}"
        )

    def _sum(self, holds: Callable[[Structure], bool]) -> float:
        pairs = zip(self.structures, self.probabilities, strict=True)
        return float(sum(p for s, p in pairs if holds(s)))

    @property
    def statement(self) -> str:
        """What the evidence says, in a sentence."""
        if len(self.candidates) == 1:
            return f"Only {self.best} was compared."
        first, second = (c.evidence for c in self.candidates[:2])
        gap = first.log_evidence - second.log_evidence
        error = math.hypot(first.standard_error, second.standard_error)
        size = f"{abs(gap):.1f} ± {error:.1f}" if error else f"{abs(gap):.1f}"
        best, rival = self.best, self.candidates[1].structure
        advice = "" if gap >= AVERAGE_WITHIN else "; average rather than pick"
        if gap >= 0:
            said = f"{preference(gap)} for {best} over {rival} ({size} nats{advice})"
        else:
            said = (
                f"{preference(gap)} for {rival} over {best} ({size} nats), which stays "
                f"the more probable by its prior{advice}"
            )
        return f"The data show {said}."

    def model(
        self,
        structure: Structure | str | None = None,
        average: bool = False,
        draws: int = 0,
    ) -> StructuredGP | MixtureGP:
        """A fitted BoTorch model, in raw units.

        Args:
            structure: Which of the compared; the best by default.
            average: Whether to mix all within 5 nats of the best, evidence and prior
                taken together, weighted by their posterior probabilities.
            draws: Of hyperparameters, over which predictions are averaged too, 16 say
                and 32 at most; 0 for the fitted ones, which on few data are too sure.

        Raises:
            InputError: If the structure was not compared, or for so many draws.
        """
        if average and structure is not None:
            raise InputError("pass a structure or average=True, not both")
        if average:
            found, weights = self.averaged()
        else:
            one = self.candidates[0] if structure is None else self._find(structure)
            found, weights = [one], [1.0]
        models = [self._model(candidate) for candidate in found]
        if average or draws != 0:
            return MixtureGP.from_members(models, weights, draws)
        return models[0]

    def explain(self, structure: Structure | str | None = None) -> Explanation:
        """Takes a structure apart, and says what the evidence says of it.

        Args:
            structure: Which of the compared; the best by default.

        Raises:
            InputError: If the structure was not compared.
        """
        found = self.candidates[0] if structure is None else self._find(structure)
        return explain(self, found, self._model(found))

    def _find(self, structure: Structure | str) -> Candidate:
        names = self.column_names
        wanted = as_structure(structure).resolve(names)
        for candidate in self.candidates:
            if candidate.structure.resolve(names) == wanted:
                return candidate
        raise InputError(
            f"{structure} was not compared: expected one of "
            f"{', '.join(map(str, self.structures))}"
        )

    def averaged(self) -> tuple[list[Candidate], list[float]]:
        """The members of an average, and their weights."""
        least = self.probabilities[0] * math.exp(-AVERAGE_WITHIN)
        close = [
            (c, p)
            for c, p in zip(self.candidates, self.probabilities, strict=True)
            if p > least
        ]
        total = sum(p for _, p in close)
        return [c for c, _ in close], [p / total for _, p in close]

    def _model(self, candidate: Candidate) -> StructuredGP:
        model = unfitted(candidate.structure, self.data, **self.settings.options())
        return restored(model, candidate.fit)

    # -- the data, for reports --------------------------------------------------

    @property
    def X(self) -> Tensor:  # noqa: N802
        """Inputs, ``n x d``, raw units."""
        return self.data.X

    @property
    def y(self) -> Tensor:
        """Targets, ``n``, raw units."""
        return self.data.y

    @property
    def bounds(self) -> Tensor:
        """The box, ``2 x d``, raw units."""
        return self.data.bounds

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return self.data.column_names

    @property
    def target_name(self) -> str:
        """Name of the target."""
        return self.data.target_name

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed about the data, and left out."""
        return self.data.notes + self.remarks

    @property
    def seed(self) -> int:
        """Of the starts."""
        return self.settings.seed

    # -- text, HTML, JSON ---------------------------------------------------------

    def __str__(self) -> str:
        shown = self.table[
            ["structure", "log_evidence", "gap", "probability", "hyperparameters"]
        ].copy()
        shown["flags"] = self.table["flags"]
        shown = shown.rename(columns={"hyperparameters": "k"})
        formats = {
            "log_evidence": "{:.2f}".format,
            "gap": "{:.2f}".format,
            "probability": "{:.3f}".format,
        }
        error = self.table["standard_error"]
        if bool((error > 0).any()):
            shown.insert(2, "se", error.map("{:.2f}".format))
        lines = [shown.head(SHOWN).to_string(formatters=formats)]
        if len(shown) > SHOWN:
            lines.append(f"… and {len(shown) - SHOWN} more, see .table")
        lines += ["", self.statement]
        used = {flag for e in self.evidences for flag in e.flags}
        lines += [f"{flag}: {FLAGS[flag]}" for flag in FLAGS if flag in used]
        lines += [f"left out: {name} ({reason})" for name, reason in self.failures]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.candidates)} structures, best {self.best}>"

    def _repr_html_(self) -> str:
        table = self.table.to_html(index=False, float_format="{:.3f}".format)
        return f"<p>{html.escape(self.statement)}</p>{table}"

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything, data included, as JSON; written to ``path`` if given.

        Raises:
            StorageError: If the file cannot be written.
        """
        contents = Contents(
            self.candidates,
            self.data,
            self.settings,
            self.failures,
            self.remarks,
            self.trace,
        )
        text = storage.dumps(contents)
        if path is not None:
            try:
                Path(path).write_text(text, encoding="utf-8")
            except OSError as error:
                raise StorageError(f"cannot write {str(path)!r}: {error}") from error
        return text

    @classmethod
    def from_json(cls, source: str | Path) -> Comparison:
        """Reads what `to_json` wrote, from its text or file; refits nothing.

        Raises:
            StorageError: If it cannot be read or is something else.
        """
        c = storage.read(source)
        return cls(c.candidates, c.data, c.settings, c.failures, c.remarks, c.trace)


def _log_priors(
    structures: Sequence[Structure], trace: Sequence[Attempt], names: Sequence[str]
) -> list[float]:
    """Log priors, normalised over all that was looked at.

    A structure is not more probable because its rivals were dropped early.
    """
    resolved = [s.resolve(names) for s in structures]
    also = {
        parse(attempt.structure).resolve(names)
        for attempt in trace
        if attempt.looked_at
    }
    others = sorted(also - set(resolved), key=str)
    return structure_log_prior([*resolved, *others])[: len(structures)]
