"""What a search begins with, and what each step makes of it."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bokern.errors import BoundsError, ColumnError, StructureError
from bokern.structures import (
    RBF,
    ChangePoint,
    Invariant,
    KernelSpace,
    Kumaraswamy,
    Linear,
    Matern,
    Sum,
    cyclic,
    parse,
    permutations,
    product,
    swap,
)
from bokern.structures.grammar import MAX_ORDER, SMALL_ORDER, Grammar
from bokern.structures.sense import evaluations, is_sensible
from bokern.structures.symmetries import narrower, part_groups, whole_groups, wider
from bokern.views.groups import closure
from tests import strategies

UNIT = [[0.0], [1.0]]
LINE, CUBE = Grammar.of(UNIT), Grammar(3, ((0, 1, 2),))
PLAIN, PLANE = Grammar(8), Grammar(2, ((0, 1),), bends=True)
GRAMMARS = {"line": LINE, "plane": PLANE, "cube": CUBE, "plain": PLAIN}
NAMES = [f"x{c}" for c in range(8)]


# -- blocks -----------------------------------------------------------------------


def test_columns_of_equal_bounds_form_blocks():
    low, high = [0.0, 5.0, 0.0, -1.0, 0.0, 5.0], [1.0, 9.0, 1.0, 1.0, 2.0, 9.0]
    expected = ((0, 2), (1, 5))
    assert Grammar.of([low, high]) == Grammar(6, expected)
    assert Grammar.of(torch.tensor([low, high])) == Grammar(6, expected)
    kinds = ["linear", "linear", "log", "linear", "linear", "linear"]
    assert Grammar.of([low, high], kinds=kinds).blocks == ((1, 5),)
    assert Grammar.of(torch.tensor([[0.0, 3.0], [1.0, 4.0]])).blocks == ()


def test_bounds_are_equal_up_to_rounding():
    off = 1e3 * (1.0 + 1e-12)
    assert Grammar.of([[0.0, 0.0], [1e3, off]]).blocks == ((0, 1),)
    assert Grammar.of([[0.0, 0.0], [1e3, 1e3 + 1e-3]]).blocks == ()


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (3.0, "2 x d"),
        ([[0.0, 1.0]], "2 x d"),
        ([[0.0, 0.0], [1.0]], "2 lower and 1 upper"),
        ([[], []], "0 lower"),
        ([["a"], ["b"]], "2 x d"),
        ([(0.0, 1.0)] * 3, "2 x d"),
    ],
)
def test_malformed_bounds(bounds, words):
    with pytest.raises(BoundsError, match=words):
        Grammar.of(bounds)


def test_labels_are_one_a_column():
    with pytest.raises(BoundsError, match="each of 1 columns, got 2"):
        Grammar.of(UNIT, kinds=["log", "log"])


def test_many_observations_allow_small_groups_only():
    box = [[0.0] * 6, [1.0] * 6]
    assert Grammar.of(box).max_order == Grammar.of(box, n=50).max_order == MAX_ORDER
    assert Grammar.of(box, n=300).max_order == 2**23 // 300**2
    groups = [s.group for s in Grammar.of(box, n=300).initial() if s.group]
    assert groups == [cyclic(6, range(6))]


# -- the first structures ---------------------------------------------------------


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
@pytest.mark.parametrize("size", ["full", "small"])
def test_initial_structures(grammar, size):
    found = grammar.initial(size)
    assert found[0] == Matern(2.5), "the plain baseline first"
    assert len(set(found)) == len(found)
    assert len(found) <= (8 if size == "small" else 20)
    space = KernelSpace(grammar.dim)
    for structure in found:
        assert structure == structure.resolve(NAMES[: grammar.dim])
        assert is_sensible(structure, grammar.dim)
        assert structure.kernel(space).batch_shape == ()
    families = {structure.family for structure in found}
    assert {"stationary", "warped", "deep"} <= families
    assert ("invariant" in families) is bool(grammar.blocks)
    assert set(grammar.initial("small")) <= set(grammar.initial("full"))


def test_groups_that_are_offered_first():
    two = [s.group for s in PLANE.initial() if s.group]
    assert two == [swap(0, 1)], "permutations and shifts of two columns are one group"
    three = [s.group for s in CUBE.initial() if s.group]
    assert three == [permutations(3, range(3)), cyclic(3, range(3))]
    several = Grammar(6, ((0, 3), (1, 2, 4, 5)))
    expected = [
        swap(0, 3),
        permutations(4, [1, 2, 4, 5]),
        cyclic(4, [1, 2, 4, 5]),
    ]
    assert [s.group for s in several.initial() if s.group] == expected
    many = Grammar(7, (tuple(range(7)),))
    assert [s.group for s in many.initial() if s.group] == [cyclic(7, range(7))]
    assert all(
        s.group.order <= SMALL_ORDER
        for s in Grammar(5, (tuple(range(5)),)).initial("small")
        if s.group
    )


def test_trends_and_periods_are_offered_on_a_line_only():
    line = {str(s) for s in LINE.initial()}
    assert {
        "Linear()",
        "Periodic()",
        "Linear() + RBF()",
        "Linear() * RBF()",
        "Periodic() + RBF()",
        "Periodic() * RBF()",
        "Linear() + Periodic()",
        "Linear() * Periodic()",
    } <= line
    assert not any("Periodic" in str(s) for s in CUBE.initial())


@pytest.mark.parametrize("size", ["full", "small"])
def test_inputs_are_bent_on_few_columns_given_enough_rows(size):
    def bent(dim, n):
        grammar = Grammar.of([[0.0] * dim, [1.0] * dim], n=n)
        return [str(s) for s in grammar.initial(size) if "Conditional" in str(s)]

    assert bent(1, 21) == ["ConditionalDeep()"]
    assert bent(2, 21) == ["ConditionalDeep(hyperdata=9)"]
    assert bent(1, 20) == bent(2, 20) == bent(3, 100) == []
    for dim, n, from_plain in ((1, 21, True), (1, 20, False), (3, 100, False)):
        grammar = Grammar.of([[0.0] * dim, [1.0] * dim], n=n)
        places = 4 * dim + 1
        child = parse(f"ConditionalDeep(RBF(), hyperdata={places})")
        child = child.resolve(NAMES[:dim])
        for text, offered in (("DeepSE()", True), ("RBF()", from_plain)):
            found = {p.structure for p in grammar.expand(parse(text))}
            assert (child in found) is offered


def test_an_unknown_size_is_refused():
    with pytest.raises(StructureError, match="'full' or 'small', got 'large'"):
        LINE.initial("large")


# -- steps ------------------------------------------------------------------------

MOVES = [
    (LINE, "RBF()", "Linear() + RBF()", "add Linear()"),
    (LINE, "RBF()", "RBF() + RBF()", "add RBF()"),
    (LINE, "RBF()", "Periodic() * RBF()", "multiply RBF() by Periodic()"),
    (LINE, "RBF()", "RationalQuadratic()", "replace RBF() by RationalQuadratic()"),
    (LINE, "RBF()", "Kumaraswamy(RBF())", "warp the input"),
    (LINE, "RBF()", "ChangePoint(RBF(), RBF())", "let RBF() change at a point"),
    (
        LINE,
        "Linear() + RBF()",
        "Linear() + Periodic() * RBF()",
        "multiply RBF() by Periodic()",
    ),
    (LINE, "Linear() + RBF()", "Linear()", "remove RBF()"),
    (LINE, "Periodic() * RBF()", "Periodic()", "remove RBF()"),
    (
        LINE,
        "Linear() + RBF()",
        "ChangePoint(Linear() + RBF(), Linear() + RBF())",
        "let Linear() + RBF() change at a point",
    ),
    (
        LINE,
        "ChangePoint(RBF(), RBF())",
        "ChangePoint(RBF(), Linear())",
        "replace RBF() by Linear()",
    ),
    (
        LINE,
        "ChangePoint(RBF(), Linear())",
        "Linear()",
        "remove the change from RBF()",
    ),
    (
        LINE,
        "ChangePoint(RBF(), Linear())",
        "RBF()",
        "remove the change to Linear()",
    ),
    (LINE, "DeepSE()", "DeepSE() + Periodic()", "add Periodic()"),
    (
        LINE,
        "Linear() + RBF()",
        "Linear() + ConditionalDeep(RBF())",
        "bend the input of RBF()",
    ),
    (
        PLAIN,
        "DeepSE(columns=[1, 2])",
        "ConditionalDeep(RBF(columns=[1, 2]), hyperdata=9)",
        "bend the input of DeepSE(columns=[1, 2])",
    ),
    (
        LINE,
        "Periodic() * ConditionalDeep(RBF())",
        "Periodic() * RBF()",
        "straighten the input of RBF()",
    ),
    (
        LINE,
        "Kumaraswamy(RBF())",
        "Kumaraswamy(Linear() + RBF())",
        "add Linear() to RBF()",
    ),
    (LINE, "Kumaraswamy(RBF())", "Linear() + Kumaraswamy(RBF())", "add Linear()"),
    (LINE, "Kumaraswamy(RBF())", "RBF()", "remove the warp of RBF()"),
    (
        LINE,
        "Linear() + RBF()",
        "Linear() + Kumaraswamy(RBF())",
        "warp the input of RBF()",
    ),
    (
        PLANE,
        "RBF()",
        "ChangePoint(RBF(), RBF(), columns=[1])",
        "let RBF() change at a point of column 1",
    ),
    (PLANE, "RBF()", "Kumaraswamy(RBF(), columns=[1])", "warp column 1"),
    (
        PLAIN,
        "RBF(columns=[1])",
        "RBF(columns=[1, 4])",
        "let RBF(columns=[1]) depend on column 4 as well",
    ),
    (PLAIN, "RBF()", "RBF() + RBF(columns=[7])", "add RBF(columns=[7])"),
    (
        PLAIN,
        "RBF()",
        "RBF() * Periodic(columns=[2])",
        "multiply RBF() by Periodic(columns=[2])",
    ),
    (
        CUBE,
        "RBF()",
        "Invariant(RBF(), permutations(3, columns=[0, 1, 2]))",
        "make invariant under permutations(3, columns=[0, 1, 2])",
    ),
    (
        CUBE,
        "RBF()",
        "Invariant(RBF(), cyclic(3, columns=[0, 1, 2]))",
        "make invariant under cyclic(3, columns=[0, 1, 2])",
    ),
    (
        CUBE,
        "RBF()",
        "Invariant(RBF(), swap(1, 2))",
        "make invariant under swap(1, 2)",
    ),
    (
        CUBE,
        "Invariant(RBF(), permutations(3))",
        "Invariant(RBF(), permutations(3)) + RBF()",
        "allow for asymmetry in Invariant(RBF(), permutations(3, columns=[0, 1, 2]))",
    ),
    (
        CUBE,
        "Invariant(RBF(), permutations(3))",
        "Invariant(RBF(), swap(0, 2))",
        "weaken permutations(3, columns=[0, 1, 2]) to swap(0, 2)",
    ),
    (
        CUBE,
        "Invariant(RBF(), swap(0, 2))",
        "Invariant(RBF(), permutations(3))",
        "extend swap(0, 2) to permutations(3, columns=[0, 1, 2])",
    ),
    (
        CUBE,
        "Invariant(RBF(), permutations(3))",
        "Invariant(Kumaraswamy(RBF()), permutations(3))",
        "warp the input of Invariant(RBF(), permutations(3, columns=[0, 1, 2]))",
    ),
    (
        CUBE,
        "Invariant(RBF(), permutations(3))",
        "RBF()",
        "drop the invariance under permutations(3, columns=[0, 1, 2])",
    ),
    (
        CUBE,
        "Kumaraswamy(RBF())",
        "Invariant(Kumaraswamy(RBF()), permutations(3))",
        "make invariant under permutations(3, columns=[0, 1, 2])",
    ),
]


@pytest.mark.parametrize(("grammar", "parent", "child", "words"), MOVES)
def test_a_step(grammar, parent, child, words):
    names = NAMES[: grammar.dim]
    parent, child = (parse(text).resolve(names) for text in (parent, child))
    found = {p.structure: p for p in grammar.expand(parent)}
    assert child in found
    assert found[child].move == words
    assert found[child].parent == parent


def test_moves_speak_of_columns_by_name():
    box = [[0.0, 0.0, 0.0], [1.0, 1.0, 2.0]]
    named = Grammar.of(box, names=("left", "right", "speed"))
    words = {}
    for start in ("RBF()", "RBF(columns=[2])", "Invariant(RBF(), swap(0, 1))"):
        pairs = zip(
            named.expand(parse(start)),
            Grammar.of(box).expand(parse(start)),
            strict=True,
        )
        for ours, theirs in pairs:
            assert ours.structure == theirs.structure
            words[ours.move] = theirs.move
    expected = {
        "make invariant under swap('left', 'right')": "make invariant under swap(0, 1)",
        "warp column speed": "warp column 2",
        "let RBF(columns=['speed']) depend on column left as well": (
            "let RBF(columns=[2]) depend on column 0 as well"
        ),
        "drop the invariance under swap('left', 'right')": (
            "drop the invariance under swap(0, 1)"
        ),
    }
    assert expected.items() <= words.items()
    assert not any("[2]" in move for move in words)


REFUSED = [
    (LINE, "RBF()", "RBF() * RationalQuadratic()", "two local factors"),
    (LINE, "Linear()", "Linear() + Linear()", "two trends"),
    (LINE, "RBF() + RBF()", "RBF() + RBF() + RBF()", "three equal terms"),
    (LINE, "Linear() * Linear()", "Linear() * Linear() * Linear()", "a cubic"),
    (LINE, "Periodic()", "Periodic() * Periodic()", "two periods of a column"),
    (LINE, "Kumaraswamy(RBF())", "Kumaraswamy(Kumaraswamy(RBF()))", "two warps"),
    (LINE, "Linear() * RBF() + Linear()", "Linear() + Linear()", "left by a removal"),
    (
        LINE,
        "ConditionalDeep(RBF())",
        "Kumaraswamy(ConditionalDeep(RBF()))",
        "two bends",
    ),
    (CUBE, "RBF()", "ConditionalDeep(RBF(), hyperdata=13)", "bends of many columns"),
    (CUBE, "RBF()", "Periodic()", "a joint period of several columns"),
    (CUBE, "RBF()", "RBF() + Periodic()", "the same in a sum"),
    (CUBE, "RBF()", "ChangePoint(RBF(), RBF())", "change-points of many columns"),
    (PLAIN, "RBF()", "Invariant(RBF(), permutations(8))", "no block"),
    (
        CUBE,
        "RBF(columns=[0]) + RBF(columns=[1])",
        "Invariant(RBF(columns=[0]) + RBF(columns=[1]), swap(0, 1))",
        "an average over unlike columns",
    ),
    (
        CUBE,
        "Invariant(RBF(), swap(0, 1)) + RBF()",
        "Invariant(Invariant(RBF(), swap(0, 1)) + RBF(), cyclic(3))",
        "an average of averages",
    ),
    (
        CUBE,
        "Invariant(RBF(), swap(0, 1))",
        "Kumaraswamy(Invariant(RBF(), swap(0, 1)))",
        "a warp that breaks a symmetry",
    ),
]


@pytest.mark.parametrize(("grammar", "parent", "child", "why"), REFUSED)
def test_what_is_not_proposed(grammar, parent, child, why):
    names = NAMES[: grammar.dim]
    found = {p.structure for p in grammar.expand(parse(parent))}
    assert parse(child).resolve(names) not in found, why


def test_at_most_two_changes_and_so_many_nodes():
    twice = ChangePoint(ChangePoint(RBF(), RBF()), Linear())
    found = [p.structure for p in LINE.expand(twice)]
    assert max(sum(isinstance(n, ChangePoint) for n in s.nodes()) for s in found) == 2
    for most in (3, 5, 10):
        small = Grammar(1, max_nodes=most)
        grown = [p for s in small.initial() for p in small.expand(s)]
        sizes = [len(list(p.structure.nodes())) for p in grown]
        assert max(sizes) <= most
        assert most == 10 or max(sizes) == most


def test_removing_is_possible_even_beyond_the_largest_size():
    small = Grammar(1, max_nodes=2)
    found = {p.move for p in small.expand(parse("Linear() + RBF() * Periodic()"))}
    assert {"remove Linear()", "remove RBF()", "remove Periodic() * RBF()"} <= found


def test_columns_must_exist():
    with pytest.raises(ColumnError, match="column 3"):
        CUBE.expand(RBF(columns=[3]))


@st.composite
def walks(draw):
    """A grammar, and a structure that it reaches in up to four steps."""
    grammar = draw(st.sampled_from(list(GRAMMARS.values())))
    structure = draw(st.sampled_from(grammar.initial()))
    for _ in range(draw(st.integers(0, 4))):
        proposals = grammar.expand(structure)
        structure = draw(st.sampled_from(proposals)).structure
    return grammar, structure


@pytest.mark.property
@settings(deadline=None)
@given(walks())
def test_proposals_are_distinct_canonical_and_buildable(walk):
    grammar, structure = walk
    proposals = grammar.expand(structure)
    assert proposals == grammar.expand(structure)
    found = [p.structure for p in proposals]
    assert len(set(found)) == len(found) > 0
    assert structure not in found
    for proposal in proposals:
        made = proposal.structure
        assert made == made.resolve(NAMES[: grammar.dim])
        assert parse(str(made)) == made
        assert proposal.parent == structure
        assert proposal.move
        assert is_sensible(made, grammar.dim)
    made.kernel(KernelSpace(grammar.dim))


GROWTH = ("add ", "multiply ", "warp ", "make ", "allow ")


@pytest.mark.property
@settings(deadline=None)
@given(walks(), st.data())
def test_what_is_added_can_be_removed(walk, data):
    grammar, structure = walk
    grown = [p for p in grammar.expand(structure) if p.move.startswith(GROWTH)]
    assume(grown)
    proposal = data.draw(st.sampled_from(grown))
    # A sum beside its own average is several terms more.
    sums = any(
        isinstance(n, Invariant) and isinstance(n.base, Sum) for n in structure.nodes()
    )
    assume(not (sums and proposal.move.startswith("allow ")))
    back = {p.structure for p in grammar.expand(proposal.structure)}
    assert structure in back, proposal


@pytest.mark.property
@settings(deadline=None)
@given(strategies.structures(3))
def test_any_structure_can_be_expanded(structure):
    resolved = structure.resolve(NAMES[:3])
    for proposal in CUBE.expand(resolved):
        assert proposal.structure != resolved


FOUR = Grammar(4, ((0, 1), (2, 3)))
PATHS = [
    (
        LINE,
        "Periodic() * RBF()",
        "Periodic() * RBF() + RBF()",
        "Periodic() * RBF() + RBF() + RationalQuadratic()",
    ),
    (
        LINE,
        "Linear() + RBF()",
        "Linear() + RBF() * Periodic()",
        "Linear() + RBF() * Periodic() * Linear()",
        "Linear() + RBF() * Periodic() * Linear() + Matern(1.5)",
    ),
    (
        LINE,
        "Periodic()",
        "ChangePoint(Periodic(), Periodic())",
        "ChangePoint(Periodic(), Linear())",
        "ChangePoint(Periodic(), Linear()) + RBF()",
        "ChangePoint(Periodic(), Linear() * RBF()) + RBF()",
    ),
    (
        CUBE,
        "Matern(2.5)",
        "Invariant(Matern(2.5), swap(0, 1))",
        "Invariant(Matern(2.5), swap(0, 1)) + Matern(2.5)",
    ),
    (
        CUBE,
        "Kumaraswamy(Matern(2.5))",
        "Kumaraswamy(RBF())",
        "Invariant(Kumaraswamy(RBF()), cyclic(3))",
    ),
    (
        CUBE,
        " + ".join(f"Matern(2.5, columns=[{c}])" for c in range(3)),
        "Matern(2.5, columns=[0]) + Matern(2.5, columns=[2])",
        "Matern(2.5, columns=[0, 1]) + Matern(2.5, columns=[2])",
    ),
    (
        FOUR,
        "Invariant(Matern(2.5), swap(0, 1))",
        "Invariant(Matern(2.5), product(swap(0, 1), swap(2, 3)))",
    ),
]


@pytest.mark.parametrize("path", PATHS)
def test_what_a_search_can_reach(path):
    grammar, *texts = path
    steps = [parse(text).resolve(NAMES[: grammar.dim]) for text in texts]
    assert steps[0] in grammar.initial()
    for before, after in itertools.pairwise(steps):
        assert after in {p.structure for p in grammar.expand(before)}


# -- groups -------------------------------------------------------------------------

GROUPS = [
    permutations(4, range(4)),
    permutations(3, [0, 2, 3]),
    cyclic(4, range(4)),
    cyclic(3, [0, 1, 3]),
    swap(1, 2),
    product(swap(0, 1), swap(2, 3)),
    product(permutations(3, [0, 1, 2]), swap(4, 5)),
]
BLOCKS = ((0, 1, 2, 3), (4, 5))


@pytest.mark.parametrize("group", GROUPS, ids=repr)
def test_groups_above_and_below(group):
    group = group.canonical()
    above, below = list(wider(group, BLOCKS)), list(narrower(group))
    assert above
    for larger in above:
        assert larger.contains(group)
        assert larger.order > group.order
        for factor in larger.factors or (larger,):
            assert any(set(factor.moved()) <= set(block) for block in BLOCKS)
    for smaller in below:
        assert group.contains(smaller)
        assert smaller.order < group.order


def test_groups_by_hand():
    below = set(narrower(permutations(3, range(3))))
    assert below == {cyclic(3, range(3)), *map(swap, (0, 0, 1), (1, 2, 2))}
    assert list(narrower(swap(0, 1))) == []
    assert len(list(part_groups((0, 1, 2, 3, 4, 5)))) == 6 + 15
    assert list(part_groups((0, 1))) == []
    assert list(whole_groups((0, 1))) == [swap(0, 1)]
    above = set(wider(swap(0, 1), BLOCKS))
    assert above == {
        permutations(3, [0, 1, 2]),
        permutations(3, [0, 1, 3]),
        product(swap(0, 1), swap(2, 3)),
        product(swap(0, 1), swap(4, 5)),
    }


def test_groups_that_are_not_made_of_blocks_stay_as_they_are():
    odd = closure(swap(0, 1), cyclic(3, [1, 2, 3])).canonical()
    for new in itertools.chain(narrower(odd), wider(odd, BLOCKS)):
        assert new != odd


COSTS = [
    "RBF()",
    "Invariant(RBF(), permutations(3))",
    "Invariant(RBF(), cyclic(3), tied=False)",
    "Linear() + Invariant(RBF(), swap(0, 1))",
    "Invariant(Linear() + RBF(), cyclic(3))",
    "Invariant(Invariant(RBF(), swap(0, 1)), cyclic(3))",
    "Kumaraswamy(Invariant(RBF(columns=[0]), swap(0, 1)))",
]


@pytest.mark.parametrize("text", COSTS)
def test_evaluations_are_those_of_the_kernel(text):
    structure = parse(text).resolve(NAMES[:3])
    assert evaluations(structure) == structure.kernel(KernelSpace(3)).evaluations


def test_a_base_that_is_warped_or_averaged_is_told_from_the_form():
    assert is_sensible(Invariant(Kumaraswamy(RBF()), swap(0, 1)), 2)
    assert not is_sensible(Invariant(RBF(columns=[0]), swap(0, 1)), 2)
