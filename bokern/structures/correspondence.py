"""What a structure keeps of the fit of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LogScale:
    """The logarithm of a variance, as a sum of logarithms of the parent's.

    Args:
        terms: The parent's outputscales by name, and how often each is multiplied in.
        offset: A constant added.
    """

    terms: tuple[tuple[str, int], ...] = ()
    offset: float = 0.0

    @classmethod
    def of(cls, name: str | None) -> LogScale:
        """That of one outputscale, or of none."""
        return cls(((name, 1),)) if name else cls()

    def __add__(self, other: LogScale | float) -> LogScale:
        if not isinstance(other, LogScale):
            return LogScale(self.terms, self.offset + other)
        counts = dict(self.terms)
        for name, count in other.terms:
            counts[name] = counts.get(name, 0) + count
        kept = tuple((name, count) for name, count in counts.items() if count)
        return LogScale(kept, self.offset + other.offset)

    def __sub__(self, other: LogScale | float) -> LogScale:
        if not isinstance(other, LogScale):
            return self + (-other)
        negated = tuple((name, -count) for name, count in other.terms)
        return self + LogScale(negated, -other.offset)


@dataclass(frozen=True)
class Transfer:
    """What of a parent's fit a child keeps.

    All names are of raw parameters of `Structure.kernel`; those of kernels stand for
    everything below them and end in a dot, or are empty.

    Args:
        names: The child's names → the parent's. A parameter that the parent's kernel
            there does not have is new.
        scales: The child's outputscales, in terms of the parent's.
        identity: The child's names → raw values at which a new part changes nothing.
        screened: The child's names that have a value from the parent but are new: a
            guess, better drawn as well.
        exact: Whether the child so started has the parent's likelihood, to rounding
            and to how close its new parts are to their identities.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    scales: Mapping[str, LogScale] = field(default_factory=dict)
    identity: Mapping[str, float] = field(default_factory=dict)
    screened: frozenset[str] = frozenset()
    exact: bool = True

    def source(self, name: str) -> str | None:
        """The parent's parameter that one of the child's starts from, if there is."""
        prefix = max(filter(name.startswith, self.names), key=len, default=None)
        return (
            None if prefix is None else self.names[prefix] + name.removeprefix(prefix)
        )

    def is_new(self, name: str) -> bool:
        """Whether a parameter of the child stands at an identity or a guess."""
        return name in self.identity or any(map(name.startswith, self.screened))
