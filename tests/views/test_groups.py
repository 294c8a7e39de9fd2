"""Groups: their elements, their text, and what they refuse."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bokern.errors import BoundsError, ColumnError, GroupError
from bokern.structures import RBF, Invariant, parse
from bokern.views import (
    Group,
    closure,
    cyclic,
    permutations,
    product,
    reflections,
    sign_flips,
    swap,
)
from bokern.views.elements import compose, inverse
from bokern.views.groups import MAX_ORDER
from tests import strategies
from tests.oracles.group_actions import act

NAMES = ("u", "v", "w", "x")
D4 = closure(cyclic(4), swap(0, 2))

ORDERS = {
    permutations(4): 24,
    permutations(3, columns=["u", "w", "x"]): 6,
    cyclic(4): 4,
    cyclic(3, columns=[3, 1, 0]): 3,
    swap("v", "x"): 2,
    sign_flips("u", "v", 2): 8,
    reflections(3): 2,
    product(swap("u", "v"), reflections("w", "x")): 8,
    swap("u", "v") * swap("w", "x"): 4,
    closure(swap(0, 1), reflections(0)): 8,
    closure(swap(0, 1), swap(1, 2), swap(2, 3)): 24,
    closure(permutations(3, [0, 1, 2]), swap(2, 3)): 24,
    D4: 8,
}


@pytest.mark.parametrize(("group", "order"), ORDERS.items(), ids=repr)
def test_elements_form_a_group_of_the_stated_order(group, order):
    resolved = group.resolve(NAMES)
    elements = resolved.elements(4)
    assert resolved.order == len(elements) == len(set(elements)) == order
    assert elements[0] == ((0, 1, 2, 3), (False,) * 4)
    point = [0.11, 0.23, 0.37, 0.41]
    images = {_rounded(act(g, point)) for g in elements}
    assert len(images) == order
    for g in elements:
        reached = {_rounded(act(h, act(g, point))) for h in elements}
        assert reached == images, "closed, and some h undoes g"


def _rounded(point):
    return tuple(round(u, 9) for u in point)


@pytest.mark.parametrize(
    ("group", "images"),
    [
        (cyclic(3), {(0.1, 0.2, 0.3), (0.2, 0.3, 0.1), (0.3, 0.1, 0.2)}),
        (swap(0, 2), {(0.1, 0.2, 0.3), (0.3, 0.2, 0.1)}),
        (reflections(1), {(0.1, 0.2, 0.3), (0.1, 0.8, 0.3)}),
        (permutations(3), set(itertools.permutations((0.1, 0.2, 0.3)))),
    ],
    ids=repr,
)
def test_images_by_hand(group, images):
    elements = group.resolve(("a", "b", "c")).elements(3)
    assert {_rounded(act(g, [0.1, 0.2, 0.3])) for g in elements} == images


@given(strategies.groups(4), strategies.groups(4), st.data())
def test_composed_elements_act_one_after_the_other(one, other, data):
    g = data.draw(st.sampled_from(one.elements(4)))
    h = data.draw(st.sampled_from(other.elements(4)))
    point = [0.11, 0.23, 0.37, 0.41]
    assert _rounded(act(compose(g, h), point)) == _rounded(act(g, act(h, point)))


@given(strategies.groups(4), st.data())
def test_inverses_bring_points_back(group, data):
    g = data.draw(st.sampled_from(group.elements(4)))
    point = [0.11, 0.23, 0.37, 0.41]
    assert _rounded(act(inverse(g), act(g, point))) == _rounded(point)


@given(strategies.groups(4))
def test_orbits_are_those_of_the_elements(group):
    expected = [min(index[j] for index, _ in group.elements(4)) for j in range(4)]
    assert group.orbits(4) == tuple(expected)


@pytest.mark.property
@given(st.booleans().flatmap(lambda names: strategies.groups(4, names)))
def test_text_reads_back(group):
    structure = parse(f"Invariant(RBF(), {group!r})")
    assert structure == Invariant(RBF(), group).canonical()
    assert structure.group.canonical() == structure.group


@pytest.mark.property
@given(strategies.groups(4))
def test_the_canonical_form_is_the_same_group(group):
    assert set(group.canonical().elements(4)) == set(group.elements(4))


@pytest.mark.parametrize(
    "ways",
    [
        (swap(0, 1), swap(1, 0)),
        (cyclic(3, [1, 2, 0]), cyclic(3, [0, 1, 2])),
        (permutations(3, [2, 0, 1]), permutations(3, [0, 1, 2])),
        (reflections("b", "a"), reflections("a", "b")),
        (swap(0, 1) * swap(2, 3), swap(3, 2) * swap(1, 0)),
        (closure(swap(0, 1), swap(1, 2)), closure(swap(2, 1), swap(1, 0), swap(0, 1))),
        (closure(swap(0, 1)), swap(0, 1)),
    ],
    ids=lambda ways: repr(ways[0]),
)
def test_ways_to_write_one_group_have_one_canonical_form(ways):
    first, second = ways
    assert first.canonical() == second.canonical()
    assert hash(first.canonical()) == hash(second.canonical())


def test_cyclic_order_matters():
    assert cyclic(4, [0, 2, 1, 3]).canonical() != cyclic(4, range(4)).canonical()


@pytest.mark.parametrize(
    ("group", "text"),
    [
        (permutations(2), "swap(0, 1)"),
        (cyclic(2), "swap(0, 1)"),
        (cyclic(3, [2, 1, 0]), "cyclic(3, columns=[0, 1, 2])"),
        (
            closure(swap(0, 1), swap(2, 1)),
            "permutations(3, columns=[0, 1, 2])",
        ),
        (closure(swap(0, 3), swap(1, 2)), "product(swap(0, 3), swap(1, 2))"),
        (reflections(1) * reflections(0), "reflections(0, 1)"),
        (sign_flips(1) * sign_flips(0), "sign_flips(0, 1)"),
        (
            closure(reflections(2), swap(0, 2)),
            "closure(reflections(0), swap(0, 2))",
        ),
        (
            closure(sign_flips(2), swap(0, 2)),
            "closure(sign_flips(0), swap(0, 2))",
        ),
        (D4, "closure(cyclic(4, columns=[0, 1, 2, 3]), swap(0, 2))"),
        (permutations(9), f"permutations(9, columns={list(range(9))})"),
    ],
    ids=repr,
)
def test_canonical_spellings(group, text):
    moved = 1 + max(group.moved())
    canonical = group.resolve([f"x{j}" for j in range(moved)]).canonical()
    assert repr(canonical) == text
    assert canonical.canonical() == canonical


def test_equal_elements_have_one_canonical_form_and_others_another():
    """Every leaf on four columns, and every closure of two."""
    leaves = [reflections(j) for j in range(4)]
    for n in (2, 3, 4):
        for chosen in itertools.permutations(range(4), n):
            leaves += [permutations(n, chosen), cyclic(n, chosen)]
    leaves = list({frozenset(g.elements(4)): g for g in leaves}.values())
    pairs = itertools.product(leaves, repeat=2)
    found = {}
    for group in (*leaves, *(closure(*pair) for pair in pairs)):
        elements = frozenset(group.elements(4))
        if len(elements) > 120:
            continue
        canonical = group.canonical()
        assert found.setdefault(elements, canonical) == canonical
        assert frozenset(canonical.elements(4)) == elements
    assert len(set(found.values())) == len(found) > 50


@given(strategies.groups(4), strategies.groups(4))
def test_contains_is_inclusion_of_elements(one, other):
    expected = set(other.elements(4)) <= set(one.elements(4))
    assert one.contains(other) is (expected and len(one.elements(4)) <= 120)


def test_contains_of_names_and_of_large_groups_is_equality():
    assert permutations(3).contains(permutations(3))
    assert not permutations(3, ["a", "b", "c"]).contains(swap("a", "b"))
    assert not permutations(6, range(6)).contains(swap(0, 1))
    assert permutations(6, range(6)).contains(permutations(6, range(6)))


def test_columns_by_name_and_by_number_are_the_same():
    named = permutations(3, columns=["x", "u", 1]).resolve(NAMES)
    assert named == permutations(3, columns=[3, 0, 1])
    assert named.moved() == (3, 0, 1)
    assert cyclic(4).resolve(NAMES).moved() == (0, 1, 2, 3)
    assert D4.resolve(NAMES).moved() == (0, 1, 2, 3)


def test_reflects():
    assert reflections(0).reflects
    assert product(swap(0, 1), sign_flips(2)).reflects
    assert not D4.reflects


def test_an_unresolved_group_of_all_columns_still_acts_on_all():
    assert len(permutations(3).elements(3)) == 6
    with pytest.raises(GroupError, match="expects 3 of them, but there are 4"):
        permutations(3).elements(4)


@pytest.mark.parametrize(
    ("group", "order"),
    [
        (permutations(8), "40320"),
        (sign_flips(*range(13)), "8192"),
        (product(permutations(7, range(7)), swap(7, 8)), "10080"),
        (permutations(1700), r"10\^"),
    ],
    ids=("permutations", "flips", "product", "astronomic"),
)
def test_large_groups_are_refused_by_their_order(group, order):
    names = [f"x{j}" for j in range(group.degree or 9)]
    with pytest.raises(GroupError, match=f"order {order}.*limit of {MAX_ORDER}"):
        group.resolve(names).elements(len(names))


def test_a_closure_that_grows_too_large_is_refused():
    everything = closure(permutations(7, range(7)), swap(6, 7))
    with pytest.raises(GroupError, match=f"more than {MAX_ORDER} elements"):
        everything.elements(8)


def test_the_largest_allowed_group():
    assert math.factorial(7) == MAX_ORDER == len(permutations(7).elements(7))


WRONG = {
    "unknown kind": (lambda: Group("rotations"), GroupError, "unknown group"),
    "one column": (lambda: permutations(1), GroupError, "n >= 2"),
    "not whole": (lambda: cyclic(2.5), GroupError, "whole number"),
    "truth value": (lambda: cyclic(True), GroupError, "whole number"),
    "too few columns": (lambda: cyclic(3, [0, 1]), GroupError, "expects 3 columns"),
    "text as columns": (lambda: cyclic(3, "abc"), ColumnError, "list of names"),
    "no columns": (lambda: reflections(), GroupError, "at least one column"),
    "twice": (lambda: swap("a", "a"), ColumnError, "twice"),
    "float column": (lambda: swap(0.5, 1), ColumnError, "name or a number"),
    "list column": (lambda: swap([0], 1), ColumnError, "name or a number"),
    "shared": (lambda: product(swap(0, 1), swap(1, 2)), GroupError, "separate"),
    "unnamed": (lambda: cyclic(3) * swap(3, 4), GroupError, "separate"),
    "no group": (lambda: closure(swap(0, 1), 3), GroupError, "expects groups"),
    "nothing": (lambda: product(), GroupError, "expects groups"),
    "unknown name": (lambda: swap("u", "q").resolve(NAMES), ColumnError, "'q'"),
    "out of range": (lambda: swap(0, 4).resolve(NAMES), ColumnError, "column 4"),
    "negative": (lambda: swap(0, -1).resolve(NAMES), ColumnError, "column -1"),
    "other degree": (lambda: cyclic(3).resolve(NAMES), GroupError, "expects 3"),
    "name and number": (lambda: swap("u", 0).resolve(NAMES), ColumnError, "twice"),
    "shared by name": (
        lambda: product(swap("u", "v"), swap(1, 2)).resolve(NAMES),
        GroupError,
        "separate",
    ),
    "names left": (lambda: swap("u", "v").elements(4), ColumnError, "resolve"),
    "beyond": (lambda: swap(0, 4).elements(4), GroupError, "only 4"),
}


@pytest.mark.parametrize(("build", "error", "words"), WRONG.values(), ids=WRONG)
def test_what_is_refused(build, error, words):
    with pytest.raises(error, match=words):
        build()


BOUNDS = {
    "equal": (permutations(3), (0, 0, 0), (2, 2, 2), None),
    "unequal upper": (swap(0, 2), (0, 0, 0), (2, 2, 3), "equal bounds"),
    "unequal lower": (cyclic(3), (0, 0, 1), (2, 2, 2), "equal bounds"),
    "not moved": (swap(0, 1), (0, 0, 5), (2, 2, 9), None),
    "symmetric": (sign_flips(0, 1), (-1, -3, 0), (1, 3, 1), None),
    "not symmetric": (sign_flips(0), (0, 0, 0), (2, 2, 2), "symmetric about 0"),
    "reflected": (reflections(0, 1), (0, 5, 0), (2, 9, 1), None),
    "inside": (closure(swap(0, 1), reflections(2)), (0, 1, 0), (2, 2, 2), "equal"),
}


@pytest.mark.parametrize(("group", "low", "high", "words"), BOUNDS.values(), ids=BOUNDS)
def test_bounds_are_mapped_to_themselves_or_refused(group, low, high, words):
    resolved = group.resolve(("p", "q", "r"))
    if words is None:
        resolved.check_bounds(low, high, ("p", "q", "r"))
        return
    with pytest.raises(BoundsError, match=words):
        resolved.check_bounds(low, high, ("p", "q", "r"))
