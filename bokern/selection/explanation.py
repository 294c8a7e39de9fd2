"""What a structure found in the data: its parts, their shares, and the verdict."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor

from bokern.inputs import Observations
from bokern.models import StructuredGP
from bokern.selection.axes import number, percent, probability
from bokern.selection.candidate import Candidate
from bokern.selection.component import Component, Parts
from bokern.selection.gaussianity import gaussianity_sentence
from bokern.selection.units import Units
from bokern.selection.verdict import Rival, flag_sentence, tried_sentence

if TYPE_CHECKING:
    from bokern.selection.comparison import Comparison

WORTH_A_WORD = 0.005
"""Share of the variance below which an overlap is not mentioned."""

SHARES = (
    "Shares are posterior expectations of the variance over the data, relative to that "
    "of {name}; with the noise and what is shared they add up to 100 %."
)


@dataclass(frozen=True, eq=False)
class Explanation:
    """A fitted structure taken apart, and what the evidence says of it.

    Values of components are in the units of `units`: raw ones, unless the outcome was
    transformed by a function that is not linear.

    Args:
        structure: Text, as given.
        data: What it is explained on, raw units: what it was fitted to, or of very many
            rows some.
        rows: How many it was fitted to.
        units: The scale on which the components add up.
        components: By falling share.
        constant: The constant mean.
        noise_sd: Least and largest standard deviation of the noise; equal unless
            different ones were declared.
        noise_share: Of the variance.
        shared: Of the variance: covariances between the parts, the noise included;
            negative where parts undo each other.
        residual: What the components leave of the data, ``n``.
        reference: The point through which the slices go, ``d``, raw units.
        probability: Of the structure, given those compared.
        rival: The runner-up, or the best if that is another; None of one alone.
        flags: Of the structure.
        tried: How many structures were tried, in a sentence.
        gaussianity: How far deep parts are from Gaussian processes, in a sentence;
            empty without any.
    """

    structure: str
    data: Observations
    rows: int
    units: Units
    components: tuple[Component, ...]
    constant: float
    noise_sd: tuple[float, float]
    noise_share: float
    shared: float
    residual: Tensor
    reference: Tensor
    probability: float
    rival: Rival | None
    flags: tuple[str, ...]
    tried: str
    gaussianity: str = ""

    @property
    def headline(self) -> str:
        """The structure, and of how many parts it is the sum."""
        count = len(self.components)
        parts = "one part" if count == 1 else f"the sum of {count} independent parts"
        scale = "" if self.units.is_raw else ", the scale on which the parts add up,"
        return f"{self.structure}: {self.units.name}{scale} is {parts} and noise."

    @property
    def findings(self) -> tuple[str, ...]:
        """A sentence for each component, the noise and the overlap."""
        return (
            *(component.sentence for component in self.components),
            self._noise,
            *self._overlap,
        )

    @property
    def verdict(self) -> tuple[str, ...]:
        """What the evidence says: rival, probability, flags, and what was tried."""
        rival = self.rival
        lines = [] if rival is None else [rival.sentence]
        if rival is not None:
            lines.append(
                f"Its posterior probability is {probability(self.probability)}, given "
                "what was compared."
            )
        if self.flags:
            lines.append(flag_sentence(self.structure, self.flags))
        else:
            lines.append("It carries no flag.")
        if rival is not None and rival.flags:
            lines.append(flag_sentence(rival.structure, rival.flags))
        return (*lines, self.tried)

    @property
    def note(self) -> str:
        """What the shares are."""
        note = SHARES.format(name=self.units.name)
        n = len(self.data.y)
        if n < self.rows:
            note += f" All is taken from {n:,} of {self.rows:,} rows, drawn at random."
        return f"{note} {self.gaussianity}".strip()

    @property
    def _noise(self) -> str:
        low, high = (number(sd) for sd in self.noise_sd)
        size = low if low == high else f"{low} to {high}"
        share = percent(self.noise_share)
        return f"Noise of standard deviation {size} in {self.units.name}: {share}."

    @property
    def _overlap(self) -> tuple[str, ...]:
        if abs(self.shared) < WORTH_A_WORD:
            return ()
        how = "undo each other" if self.shared < 0 else "rise and fall together"
        return (f"Shared by parts that {how}: {percent(self.shared)}.",)

    def __str__(self) -> str:
        numbered = [f"{i}. {text}" for i, text in enumerate(self.findings, start=1)]
        return "\n".join([self.headline, *numbered, self.note, "", *self.verdict])

    def __repr__(self) -> str:
        parts = len(self.components)
        return f"<Explanation of {self.structure}: {parts} part{'s' * (parts != 1)}>"

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(text)}</li>" for text in self.findings)
        lines = [self.note, *self.verdict]
        below = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
        return f"<p>{html.escape(self.headline)}</p><ol>{items}</ol>{below}"

    def to_dict(self) -> dict[str, Any]:
        """All of it as numbers, text and lists, ready for JSON."""
        rival = self.rival
        return {
            "structure": self.structure,
            "headline": self.headline,
            "findings": list(self.findings),
            "verdict": list(self.verdict),
            "units": self.units.name,
            "constant": self.constant,
            "noise_sd": list(self.noise_sd),
            "noise_share": self.noise_share,
            "shared": self.shared,
            "probability": self.probability,
            "flags": list(self.flags),
            "rival": None
            if rival is None
            else {
                "structure": rival.structure,
                "gap": rival.gap,
                "standard_error": rival.standard_error,
                "words": rival.words,
            },
            "reference": dict(
                zip(self.data.column_names, self.reference.tolist(), strict=True)
            ),
            "residual": self.residual.tolist(),
            "components": [c.to_dict() for c in self.components],
        }


def explain(
    found: Comparison, candidate: Candidate, model: StructuredGP
) -> Explanation:
    """Takes one of the compared structures apart; see `Comparison.explain`."""
    index = found.candidates.index(candidate)
    others = [c for c in found.candidates if c is not candidate]
    rival = None
    if others:
        text = str(others[0].structure)
        evidences = candidate.evidence, others[0].evidence
        rival = Rival.of(*evidences, text, leads=index > 0)
    reference = _reference(found.data)
    parts = Parts(model, found.data, reference)
    return Explanation(
        structure=str(candidate.structure),
        data=parts.data,
        rows=len(found.data.y),
        units=parts.units,
        components=parts.components(),
        constant=parts.constant,
        noise_sd=parts.noise_sd,
        noise_share=parts.shares.noise,
        shared=parts.shares.shared,
        residual=parts.residual,
        reference=reference,
        probability=found.probabilities[index],
        rival=rival,
        flags=candidate.evidence.flags,
        tried=tried_sentence(found.trace, len(found.candidates), len(found.failures)),
        gaussianity=gaussianity_sentence(model),
    )


def _reference(data: Observations) -> Tensor:
    """The observed point nearest the median, in units of the box."""
    low, high = data.bounds
    distance = ((data.X - data.X.median(0).values) / (high - low)).norm(dim=-1)
    return data.X[distance.argmin()].double().cpu()
