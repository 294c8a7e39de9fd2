"""Finds what two structures share, and where it stands in their kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bokern.structures.change_point import ChangePoint
from bokern.structures.classical import RBF, Matern, RationalQuadratic
from bokern.structures.composite import ABSENT, Product, Sum
from bokern.structures.conditional_deep import ConditionalDeep
from bokern.structures.correspondence import LogScale, Transfer
from bokern.structures.invariant import Invariant
from bokern.structures.places import Node
from bokern.structures.warped import Kumaraswamy

BESIDE = 2.0
"""Log variance of a carried part beside a new one that cannot be made absent."""

SAME, ALIKE, RELATED, UNLIKE = 3.0, 2.0, 1.0, 0.2
"""Scores of two leaves: equal; of one class; with lengthscales that mean the same; with
nothing in common but that one takes the other's place."""

WRAPPER, UNWRAPPED = 0.5, 0.01
"""Score of a wrapper that both have, and penalty of one that only one has."""

LOCAL = (RBF, Matern, RationalQuadratic)
WARP = {"raw_concentration_a": 0.0, "raw_concentration_b": 0.0}
CHANGE = ("raw_location_score", "raw_width")


@dataclass(frozen=True)
class Match:
    """Two parts matched.

    Args:
        transfer: What is kept.
        owed: Log scale by which the child's part must be multiplied from outside.
        loose: Whether that is a guess.
        score: How much is kept.
    """

    transfer: Transfer = field(default_factory=Transfer)
    owed: LogScale = field(default_factory=LogScale)
    loose: bool = False
    score: float = 0.0


def match(child: Node, parent: Node, gain: LogScale | None = None) -> Match:
    """The match of two parts that keeps most.

    Args:
        child: Part of the child.
        parent: Part of the parent.
        gain: Log scale that multiplies the parent's from outside.
    """
    total = (gain or LogScale()) + LogScale.of(parent.scale)
    content = replace(parent, scale=None)
    found = max(_matches(child, content, total), key=lambda m: m.score)
    if child.scale is None:
        return found
    kept = found.transfer
    kept = replace(
        kept,
        scales={**kept.scales, child.scale: found.owed},
        screened=kept.screened | ({child.scale} if found.loose else set()),
    )
    return Match(kept, score=found.score)


def _matches(child: Node, parent: Node, gain: LogScale) -> Iterator[Match]:
    """All ways to match two parts, their own scales aside."""
    c, p = child.structure, parent.structure
    if not child.parts and not parent.parts:
        yield _leaves(child, parent, gain)
    elif isinstance(c, Sum):
        if isinstance(p, Sum):
            yield _sums(child, parent.parts, gain)
        yield _sums(child, (parent,), gain)
    elif isinstance(c, Product):
        factors = parent.parts if isinstance(p, Product) else (parent,)
        yield _products(child, factors, gain)
    elif isinstance(c, ChangePoint):
        yield _change_points(child, parent, gain)
    elif child.parts:
        yield _wrappers(child, parent, gain)
    if type(c) is not type(p):
        # The parent had something around the child, or beside it.
        for part in parent.parts:
            loose = isinstance(p, Product) and _vary(set(parent.parts) - {part})
            found = match(child, part, gain)
            found = replace(found, loose=found.loose or loose)
            yield _joined([found], exact=False, bonus=-UNWRAPPED)


def _leaves(child: Node, parent: Node, gain: LogScale) -> Match:
    c, p = child.structure, parent.structure
    names, score = {child.path: parent.path}, SAME
    if type(c) is type(p):
        score = SAME if c == p else ALIKE
    elif isinstance(c, LOCAL) and isinstance(p, LOCAL):
        lengthscale = "raw_lengthscale"
        names = {child.path + lengthscale: parent.path + lengthscale}
        score = RELATED
    else:
        names, score = {}, UNLIKE
    loose = c.has_constant_variance != p.has_constant_variance
    return Match(Transfer(names, exact=c == p), gain, loose, score)


def _sums(child: Node, wanted: Sequence[Node], gain: LogScale) -> Match:
    pairs = _pairs(child.parts, wanted)
    owed = _of_first(child.parts, wanted, pairs, gain)
    found: list[Match] = []
    for i, part in enumerate(child.parts):
        if i in pairs:
            # A first part without a scale leaves it to the sum's.
            rest = gain - owed if part.scales else gain
            found.append(match(part, wanted[pairs[i]], rest))
            continue
        names = _guess(part, [wanted[j] for j in pairs.values()])
        absent = Transfer(
            names,
            identity=dict.fromkeys(part.scales, ABSENT),
            screened=frozenset(names),
            exact=bool(part.scales),
        )
        found.append(Match(absent))
    return _joined(found, owed=owed, exact=len(pairs) == len(wanted))


def _of_first(
    child: Sequence[Node],
    parent: Sequence[Node],
    pairs: dict[int, int],
    gain: LogScale,
) -> LogScale:
    """What multiplies a whole sum whose first part has no scale of its own."""
    if child[0].scales:
        return LogScale()
    if 0 in pairs:
        return match(child[0], parent[pairs[0]], gain).owed
    i = min(pairs)
    scales = match(child[i], parent[pairs[i]], gain).transfer.scales
    return scales[child[i].scales[0]] - BESIDE


def _guess(part: Node, parents: Sequence[Node]) -> dict[str, str]:
    """Where the plain sibling of an average starts: from what is averaged."""
    for parent in parents:
        average = parent.structure
        if isinstance(average, Invariant) and average.base == part.structure:
            return dict(match(part, parent.parts[0]).transfer.names)
    return {}


def _products(child: Node, factors: Sequence[Node], gain: LogScale) -> Match:
    pairs = _pairs(child.parts, factors)
    found: list[Match] = []
    for i, part in enumerate(child.parts):
        if i in pairs:
            found.append(match(part, factors[pairs[i]]))
            continue
        one = {part.path + name: v for name, v in part.structure.constant_at.items()}
        found.append(Match(Transfer(identity=one, exact=bool(one)), loose=not one))
    lost = [part for j, part in enumerate(factors) if j not in pairs.values()]
    found.append(Match(loose=_vary(lost)))
    owed = gain
    for each in found:
        owed = owed + each.owed
    return _joined(found, owed=owed, exact=len(pairs) == len(factors))


def _vary(factors: Iterable[Node]) -> bool:
    """Whether the scale of a product means another thing without these."""
    return not all(factor.structure.has_constant_variance for factor in factors)


def _pairs(child: Sequence[Node], parent: Sequence[Node]) -> dict[int, int]:
    """Parts of the child → parts of the parent, the best pairs first."""
    scores = [
        (-match(c, p).score, i, j)
        for i, c in enumerate(child)
        for j, p in enumerate(parent)
    ]
    pairs: dict[int, int] = {}
    for _, i, j in sorted(scores):
        if i not in pairs and j not in pairs.values():
            pairs[i] = j
    return pairs


def _change_points(child: Node, parent: Node, gain: LogScale) -> Match:
    before, after = child.parts
    there = parent.structure
    both = isinstance(there, ChangePoint)
    first, second = parent.parts if both else (parent, parent)
    one = match(before, first, gain)
    two = match(after, second, gain - one.owed)
    own = {child.path + name: parent.path + name for name in CHANGE} if both else {}
    exact = both and there.columns == child.structure.columns
    # A parent carried to both sides is kept once.
    score = WRAPPER if both else -UNWRAPPED - two.score
    return _joined([one, two], Transfer(own, exact=exact), one.owed, bonus=score)


def _deep(child: Node, parent: Node, gain: LogScale) -> Match:
    """A deep structure from one like it, or from the kernel to which it reduces."""
    c, p = child.structure, parent.structure
    assert isinstance(c, ConditionalDeep)
    if isinstance(p, ConditionalDeep):
        base = match(child.parts[0], parent.parts[0], gain)
        alike = c == replace(p, base=c.base)
        own = {child.path: parent.path} if alike else {}
        return _joined([base], Transfer(own, exact=alike), bonus=WRAPPER)
    names, values = c.straight
    exact = c.plain == p
    own = {child.path + k: parent.path + v for k, v in names.items() if exact}
    straight = {child.path + name: value for name, value in values.items()}
    return _joined([Match(owed=gain)], Transfer(own, identity=straight, exact=exact))


def _wrappers(child: Node, parent: Node, gain: LogScale) -> Match:
    c, p = child.structure, parent.structure
    if isinstance(c, ConditionalDeep):
        return _deep(child, parent, gain)
    both = type(c) is type(p)
    base = match(child.parts[0], parent.parts[0] if both else parent, gain)
    bonus = WRAPPER if both else -UNWRAPPED
    if isinstance(c, Kumaraswamy):
        own = {child.path + n: parent.path + n for n in WARP} if both else {}
        one = {} if both else {child.path + n: v for n, v in WARP.items()}
        exact = not both or c.columns == p.columns
        return _joined([base], Transfer(own, identity=one, exact=exact), bonus=bonus)
    exact = both and c.with_children(p.children) == p
    return _joined([base], Transfer(exact=exact), bonus=bonus)


def _joined(
    found: Sequence[Match],
    own: Transfer | None = None,
    owed: LogScale | None = None,
    *,
    exact: bool = True,
    bonus: float = 0.0,
) -> Match:
    """Matches of parts as one; what the first owes, if nothing else is said."""
    parts = [own or Transfer(), *(each.transfer for each in found)]
    joined = Transfer(
        names={k: v for part in parts for k, v in part.names.items()},
        scales={k: v for part in parts for k, v in part.scales.items()},
        identity={k: v for part in parts for k, v in part.identity.items()},
        screened=frozenset().union(*(part.screened for part in parts)),
        exact=exact and all(part.exact for part in parts),
    )
    return Match(
        joined,
        found[0].owed if owed is None else owed,
        any(each.loose for each in found),
        bonus + sum(each.score for each in found),
    )
