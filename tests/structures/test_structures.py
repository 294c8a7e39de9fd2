"""Algebra, classes and columns of structures."""

from __future__ import annotations

import itertools

import pytest
import torch

from bokern.errors import ColumnError, GroupError, StructureError
from bokern.structures import (
    RBF,
    ChangePoint,
    ConditionalDeep,
    DeepSE,
    Invariant,
    KernelSpace,
    Kumaraswamy,
    Linear,
    Matern,
    Periodic,
    Product,
    RationalQuadratic,
    Structure,
    Sum,
    cyclic,
    parse,
    permutations,
    reflections,
    swap,
)
from bokern.structures.catalogue import EXAMPLES
from tests.kernels.examples import points, randomise

A, B, C = RBF(), Linear(), Periodic()
S01 = swap(0, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (A + B, B + A),
        ((A + B) + C, A + (B + C)),
        (A * C * B, B * (C * A)),
        (A * A * C, C * A),
        (Sum((Sum((A, C)), B)).canonical(), A + B + C),
        (Product((A, A)).canonical(), A),
        (Sum((A, Product((A, A)))).canonical(), A + A),
        (RBF(columns=[1, 0]).canonical(), RBF(columns=[0, 1])),
        (parse("Invariant(Linear() + RBF(), swap(1, 0))"), Invariant(A + B, S01)),
        (ChangePoint(A + B, A * A), ChangePoint(B + A, A, columns=[0])),
        (ChangePoint(A, B, columns=()), ChangePoint(A, B)),
        (Matern(1.5), Matern(nu=1.5)),
    ],
    ids=str,
)
def test_what_means_the_same_is_equal(one, other):
    one, other = one.canonical(), other.canonical()
    assert one == other
    assert hash(one) == hash(other)
    assert str(one) == str(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (A + A, A),
        (C * C, C),
        (B + B, B),
        (A * B, A + B),
        (Matern(1.5), Matern(2.5)),
        (RBF(columns=[0]) * RBF(columns=[1]), RBF(columns=[0])),
        (Invariant(A, S01), Invariant(A, S01, tied=False)),
        (Invariant(A, S01), Invariant(A, S01, normalize=False)),
        (Kumaraswamy(A), Kumaraswamy(A, columns=[0])),
        ((A + B) * C, A + B * C),
        (ChangePoint(A, B), ChangePoint(B, A)),
        (ChangePoint(A, B), ChangePoint(A, B, columns=[1])),
        (ChangePoint(A, A), A),
    ],
    ids=str,
)
def test_what_differs_is_not_equal(one, other):
    assert one != other
    assert str(one) != str(other)


@pytest.mark.parametrize("flags", itertools.product((True, False), repeat=4))
def test_a_second_average_over_a_group_only_normalises_and_ties(flags):
    inner = Invariant(A, S01, tied=flags[0], normalize=flags[1])
    twice = Invariant(inner, swap(1, 0), tied=flags[2], normalize=flags[3])
    assert twice.canonical() == Invariant(
        A, S01, tied=flags[0] or flags[2], normalize=flags[1] or flags[3]
    )


def test_structures_are_frozen():
    with pytest.raises(AttributeError):
        Matern(2.5).nu = 1.5


KINDS = {
    "RBF()": ("stationary", {"stationary"}),
    "Linear()": ("composite", {"composite", "nonstationary"}),
    "Periodic() * RBF()": ("composite", {"composite", "stationary"}),
    "Linear() + RBF()": ("composite", {"composite", "nonstationary"}),
    "DeepSE(2)": ("deep", {"deep", "stationary"}),
    "DeepSE() + RBF()": (
        "composition",
        {"composition", "composite", "deep", "stationary"},
    ),
    "ConditionalDeep()": ("deep", {"deep", "nonstationary"}),
    "ConditionalDeep(hyperdata=0)": ("deep", {"deep", "stationary"}),
    "ConditionalDeep(Invariant(RBF(), swap(0, 1)), mean='zero')": (
        "composition",
        {"composition", "deep", "invariant", "nonstationary"},
    ),
    "ConditionalDeep(Invariant(RBF(), swap(0, 1)))": (
        "composition",
        {"composition", "deep", "nonstationary"},
    ),
    "ChangePoint(RBF(), RBF())": ("composite", {"composite", "nonstationary"}),
    "ChangePoint(DeepSE(), RBF())": (
        "composition",
        {"composition", "composite", "deep", "nonstationary"},
    ),
    "Kumaraswamy(RBF())": ("warped", {"warped", "nonstationary"}),
    "Kumaraswamy(Linear() + RBF())": (
        "warped",
        {"warped", "composite", "nonstationary"},
    ),
    "Kumaraswamy(DeepSE())": (
        "composition",
        {"composition", "warped", "deep", "nonstationary"},
    ),
    "Invariant(RBF(), swap(0, 1))": ("invariant", {"invariant", "nonstationary"}),
    "Invariant(DeepSE(), swap(0, 1))": (
        "composition",
        {"composition", "invariant", "deep", "nonstationary"},
    ),
    "Invariant(RBF(), swap(0, 1)) + RBF()": (
        "composition",
        {"composition", "composite", "nonstationary"},
    ),
    "Invariant(RBF(), swap(0, 1)) + Invariant(Linear(), swap(1, 0))": (
        "composition",
        {"composition", "composite", "invariant", "nonstationary"},
    ),
    "Invariant(RBF(), swap(0, 1)) * Invariant(RBF(), swap(1, 2))": (
        "composition",
        {"composition", "composite", "nonstationary"},
    ),
    "Kumaraswamy(Invariant(RBF(), swap(0, 1)))": (
        "composition",
        {"composition", "warped", "nonstationary"},
    ),
}


@pytest.mark.parametrize(("text", "expected"), KINDS.items(), ids=KINDS)
def test_families_and_kinds(text, expected):
    structure = parse(text)
    family, kinds = expected
    assert structure.family == family
    assert structure.kinds == kinds


@pytest.mark.parametrize("width", [1, 2, 7])
def test_zero_mean_deep_is_never_a_warp(width):
    structure = DeepSE(width)
    assert structure.is_stationary
    assert not structure.kinds & {"warped", "nonstationary"}


NAMES = ("a", "b", "c")
RESOLVED = {
    "RBF(columns=['c', 'a'])": "RBF(columns=[0, 2])",
    "RBF(columns=['c']) + RBF(columns=['a'])": "RBF(columns=[0]) + RBF(columns=[2])",
    "ChangePoint(RBF(columns=['b']), RBF(), columns=['c'])": (
        "ChangePoint(RBF(columns=[1]), RBF(), columns=[2])"
    ),
    "ChangePoint(RBF(), RBF(), columns=['a'])": "ChangePoint(RBF(), RBF())",
    "Invariant(RBF(), swap('c', 'a'))": "Invariant(RBF(), swap(0, 2))",
    "Invariant(RBF(), cyclic(3))": "Invariant(RBF(), cyclic(3, columns=[0, 1, 2]))",
    "Kumaraswamy(Periodic(columns=['b']), columns=['c'])": (
        "Kumaraswamy(Periodic(columns=[1]), columns=[2])"
    ),
}


@pytest.mark.parametrize(("named", "numbered"), RESOLVED.items(), ids=RESOLVED)
def test_names_become_numbers(named, numbered):
    resolved = parse(named).resolve(NAMES)
    assert resolved == parse(numbered)
    assert str(resolved) == numbered
    assert resolved.resolve(NAMES) == resolved


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("RBF(columns=[1, 'a'])", "RBF()"),
        ("Kumaraswamy(RBF(), columns=['b', 'a'])", "Kumaraswamy(RBF())"),
        ("Invariant(RBF(), permutations(2))", "Invariant(RBF(), swap('b', 'a'))"),
        ("Invariant(RBF(), cyclic(2))", "Invariant(RBF(), swap(0, 1))"),
        (
            "Invariant(RBF(columns=['a', 'b']), closure(swap('a', 'b')))",
            "Invariant(RBF(), swap('a', 'b'))",
        ),
    ],
)
def test_ways_to_write_one_structure_resolve_to_one(one, other):
    first, second = (parse(text).resolve(("a", "b")) for text in (one, other))
    assert first == second
    assert str(first) == str(second)


def test_a_sum_is_invariant_under_what_its_parts_share():
    text = "Invariant(RBF(), {}) + Invariant(Matern(0.5), {})"
    names = ("a", "b", "c")
    nested = parse(text.format("permutations(3)", "cyclic(3)")).resolve(names)
    assert nested.symmetries == {cyclic(3, [0, 1, 2])}
    assert "invariant" in nested.kinds
    beside = parse(text.format("swap('a', 'b')", "cyclic(3)")).resolve(names)
    assert beside.symmetries == frozenset()
    assert "invariant" not in beside.kinds


def test_groups_are_found_wherever_they_stand():
    structure = parse("Kumaraswamy(Invariant(RBF(), swap(0, 1))) + RBF()")
    assert list(structure.groups()) == [S01]


CONTAINED = [
    (A + B, A, True),
    (A + B, B, True),
    (A + B + C, B + C, True),
    (A + A, A, True),
    (A, A, True),
    (Kumaraswamy(A), A, True),
    (Kumaraswamy(A + B), A, True),
    (Kumaraswamy(A) + B, Kumaraswamy(A), True),
    (ConditionalDeep(), A, True),
    (ConditionalDeep(Matern(1.5), exposed="matern-2.5"), Matern(2.5), True),
    (ConditionalDeep(exposed="rational-quadratic"), RationalQuadratic(), True),
    (ConditionalDeep(form="network"), A, True),
    (ConditionalDeep(mean="zero"), A, False),
    (ConditionalDeep(layers=3).canonical(), A, False),
    (A, A + B, False),
    (A + B, C, False),
    (A + B, A + A, False),
    (A * C, A, False),
    (Invariant(A, S01), A, False),
    (A, Kumaraswamy(A), False),
]


@pytest.mark.parametrize(("whole", "part", "contained"), CONTAINED, ids=str)
def test_contains_and_lift(whole, part, contained):
    assert whole.contains(part) is contained
    if not contained:
        with pytest.raises(StructureError, match="does not contain"):
            whole.lift(part)
        return
    names, identity = whole.lift(part)
    space = KernelSpace(2)
    here = dict(whole.kernel(space).named_parameters())
    there = dict(part.kernel(space).named_parameters())
    mapped = {
        source + name.removeprefix(prefix)
        for name in here
        for prefix, source in names.items()
        if name.startswith(prefix)
    }
    assert mapped >= set(there), "every hyperparameter of the part is carried over"
    for pattern in identity:
        start, _, end = pattern.partition("*")
        assert any(n.startswith(start) and n.endswith(end) for n in here)


WRONG = {
    "nu": (lambda: Matern(2.0), StructureError, "nu to be one of 0.5, 1.5, 2.5"),
    "nu text": (lambda: Matern("2.5"), StructureError, "nu"),
    "nu truth": (lambda: Matern(True), StructureError, "nu"),
    "width": (lambda: DeepSE(0), StructureError, "1 <= width"),
    "wide": (lambda: DeepSE(10**4000), StructureError, "width <= 1000"),
    "width float": (lambda: DeepSE(1.0), StructureError, "whole number"),
    "width truth": (lambda: DeepSE(True), StructureError, "whole number"),
    "hyperdata": (lambda: ConditionalDeep(hyperdata=-1), StructureError, "0 <= hyper"),
    "many": (lambda: ConditionalDeep(hyperdata=201), StructureError, "<= 200"),
    "layers": (lambda: ConditionalDeep(layers=1), StructureError, "2 <= layers"),
    "mean": (lambda: ConditionalDeep(mean="linear"), StructureError, "'identity'"),
    "exposed": (lambda: ConditionalDeep(exposed="se"), StructureError, "'rbf'"),
    "cusp": (lambda: ConditionalDeep(exposed="matern-0.5"), StructureError, "cusp"),
    "form": (lambda: ConditionalDeep(form=None), StructureError, "'whitened'"),
    "reach": (lambda: ConditionalDeep(reach=0.5), StructureError, "1 <= reach"),
    "identity wide": (lambda: ConditionalDeep(width=2), StructureError, "leave out"),
    "narrow": (
        lambda: ConditionalDeep(exposed="cosine", mean="zero", width=2),
        StructureError,
        "one hidden function",
    ),
    "narrow identity": (
        lambda: ConditionalDeep(exposed="periodic").kernel(KernelSpace(2)),
        StructureError,
        "take mean='zero'",
    ),
    "deep sum": (lambda: ConditionalDeep(A + B), StructureError, "variance 1"),
    "deep bare": (
        lambda: ConditionalDeep(Invariant(A, S01, normalize=False)),
        StructureError,
        "normalised",
    ),
    "text columns": (lambda: RBF(columns="a"), ColumnError, r"columns=\['a'\]"),
    "float column": (lambda: RBF(columns=[0.5]), ColumnError, "name or a number"),
    "truth column": (lambda: RBF(columns=[True]), ColumnError, "name or a number"),
    "twice": (lambda: RBF(columns=["a", "a"]), ColumnError, "twice"),
    "warped text": (lambda: Kumaraswamy("RBF()"), StructureError, "structure such as"),
    "warped twice": (lambda: Kumaraswamy(A, columns=[0, 0]), ColumnError, "twice"),
    "change text": (lambda: ChangePoint(A, "RBF()"), StructureError, "such as"),
    "changes": (lambda: ChangePoint(A, A, columns=[0, 1]), ColumnError, "one column"),
    "change column": (lambda: ChangePoint(A, A, columns="a"), ColumnError, "columns="),
    "change beyond": (
        lambda: ChangePoint(A, A, columns=["q"]).resolve(NAMES),
        ColumnError,
        "'q'",
    ),
    "change unresolved": (
        lambda: ChangePoint(A, A, columns=["a"]).kernel(KernelSpace(3)),
        ColumnError,
        "resolve",
    ),
    "no base": (lambda: Invariant(3, S01), StructureError, "structure such as"),
    "no group": (lambda: Invariant(A, "swap(0, 1)"), GroupError, "expects a group"),
    "tied": (lambda: Invariant(A, S01, tied=1), StructureError, "tied"),
    "normalize": (lambda: Invariant(A, S01, normalize=None), StructureError, "normal"),
    "one part": (lambda: Sum((A,)), StructureError, "at least two"),
    "no parts": (lambda: Product(A), StructureError, "at least two"),
    "part text": (lambda: Sum((A, "RBF()")), StructureError, "structure such as"),
    "scalar": (lambda: A * 2, StructureError, "no scalar multiplication"),
    "added": (lambda: A + 1, StructureError, "combines with structures only"),
    "children": (lambda: A.with_children([B]), StructureError, "no parts"),
    "unknown": (lambda: RBF(columns=["q"]).resolve(NAMES), ColumnError, "'q'"),
    "number": (lambda: RBF(columns=[3]).resolve(NAMES), ColumnError, "column 3"),
    "both": (lambda: RBF(columns=["a", 0]).resolve(NAMES), ColumnError, "twice"),
    "degree": (
        lambda: Invariant(A, permutations(2)).resolve(NAMES),
        GroupError,
        "expects 2 of them, but there are 3",
    ),
    "unresolved": (
        lambda: RBF(columns=["a"]).kernel(KernelSpace(3)),
        ColumnError,
        "resolve",
    ),
    "unresolved group": (
        lambda: Invariant(A, swap("a", "b")).kernel(KernelSpace(3)),
        ColumnError,
        "resolve",
    ),
    "beyond": (
        lambda: Linear(columns=[3]).kernel(KernelSpace(3)),
        ColumnError,
        "below 3",
    ),
    "beyond group": (
        lambda: Invariant(A, swap(0, 3)).kernel(KernelSpace(3)),
        GroupError,
        "only 3",
    ),
    "double sum": (
        lambda: Invariant(A, permutations(6), tied=False).kernel(KernelSpace(6)),
        GroupError,
        "double sum over 720 elements.*GB",
    ),
    "nested sums": (
        lambda: Invariant(
            Invariant(A, permutations(4, range(4)), tied=False),
            permutations(4, range(1, 5)),
        ).kernel(KernelSpace(5)),
        GroupError,
        "331776 evaluations",
    ),
}


@pytest.mark.parametrize(("build", "error", "words"), WRONG.values(), ids=WRONG)
def test_what_is_refused(build, error, words):
    with pytest.raises(error, match=words):
        build()


SINGLE = {
    "RBF()": (True, True),
    "Matern(0.5)": (True, True),
    "RationalQuadratic()": (True, True),
    "Periodic()": (True, True),
    "DeepSE(2)": (True, True),
    "ConditionalDeep(hyperdata=0, mean='zero')": (True, True),
    "ConditionalDeep(mean='zero')": (False, False),
    "ConditionalDeep(Invariant(RBF(), swap(0, 1)), mean='zero')": (True, False),
    "ConditionalDeep(hyperdata=0)": (False, False),
    "Linear()": (True, False),
    "Kumaraswamy(RBF())": (True, False),
    "Linear() + RBF()": (True, False),
    "Periodic() * RBF()": (True, True),
    "RBF(columns=[0])": (False, True),
    "ChangePoint(RBF(), RBF())": (False, False),
    "ChangePoint(RBF(), RBF(), columns=[2])": (True, False),
    "ChangePoint(RBF(), RBF(columns=[0]), columns=[2])": (False, False),
    "RBF(columns=[0, 1])": (True, True),
    "RBF(columns=[2])": (True, True),
    "RBF() + Matern(1.5, columns=[1])": (False, True),
    "Kumaraswamy(RBF(), columns=[0])": (False, False),
}


@pytest.mark.parametrize(("text", "expected"), SINGLE.items(), ids=SINGLE)
def test_the_single_sum_is_decided_from_the_form(text, expected):
    for group, single in zip((S01, reflections(0)), expected, strict=True):
        structure = Invariant(parse(text), group)
        assert structure.uses_single_sum is single
        kernel = structure.kernel(KernelSpace(3)).base_kernel
        if text != "Linear() + RBF()":
            assert kernel.single_sum is single
        untied = Invariant(parse(text), group, tied=False)
        assert not untied.uses_single_sum


def test_parts_of_a_mixed_sum_need_a_single_sum_or_not_by_themselves():
    kernel = Invariant(A + B, reflections(0)).correlation(KernelSpace(3))
    linear, rbf = kernel.kernels
    assert not linear.single_sum
    assert rbf.base_kernel.single_sum
    bare = Invariant(A, S01, normalize=False)
    kernel = Invariant(bare + C, permutations(3, [0, 1, 2])).correlation(KernelSpace(3))
    assert kernel.kernels[0].normalize
    assert kernel.kernels[1].base_kernel.normalize


CONSTANT = {
    "RBF()": True,
    "Linear()": False,
    "Linear() + RBF()": False,
    "Linear() * RBF()": False,
    "ChangePoint(RBF(), RBF())": False,
    "Kumaraswamy(Periodic())": True,
    "Kumaraswamy(Linear())": False,
    "Invariant(RBF(), swap(0, 1))": True,
    "Invariant(RBF(), swap(0, 1), normalize=False)": False,
    "Invariant(Linear(), swap(0, 1))": False,
    "Invariant(Linear() + RBF(), swap(0, 1))": False,
    "Invariant(Invariant(RBF(), swap(0, 1), normalize=False), swap(1, 2))": True,
}


@pytest.mark.parametrize(("text", "constant"), CONSTANT.items(), ids=CONSTANT)
def test_constant_variance(text, constant):
    structure = parse(text)
    assert structure.has_constant_variance is constant
    x = points(20, 3)
    variance = structure.correlation(KernelSpace(3)).forward(x, x, diag=True)
    assert bool(variance.std() < 1e-9) is constant


def test_columns_of_one_orbit_share_hyperparameters():
    space = KernelSpace(4)
    kernel = Invariant(Kumaraswamy(RBF()), cyclic(3, [0, 1, 3])).kernel(space)
    shapes = {n.split(".")[-1]: p.shape[-1:] for n, p in kernel.named_parameters()}
    assert shapes["raw_lengthscale"] == shapes["raw_concentration_a"] == (2,)
    values = kernel.lengthscale.new_tensor([[0.2, 0.7]])
    kernel.base_kernel.base_kernel.lengthscale = values
    assert kernel.lengthscale.flatten().tolist() == pytest.approx([0.2, 0.2, 0.7, 0.2])


def test_nested_groups_tie_what_either_ties():
    inner = Invariant(RBF(), swap(0, 1))
    kernel = Invariant(inner + Linear(), swap(1, 2)).kernel(KernelSpace(4))
    raw = [p for n, p in kernel.named_parameters() if n.endswith("raw_lengthscale")]
    assert raw[0].shape[-1] == 2


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_outputscales_are_not_redundant(example):
    """One outputscale a term: a product has one, sums and changes one for each part."""
    kernel = example.kernel(KernelSpace(3))
    names = [n for n, _ in kernel.named_parameters() if n.endswith("raw_outputscale")]
    assert len(names) == (2 if isinstance(example, Sum | ChangePoint) else 1)


def test_repr_is_text():
    assert repr(RationalQuadratic(columns=["a"])) == "RationalQuadratic(columns=['a'])"
    assert isinstance(A, Structure)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("RBF()", (0, 1, 2)),
        ("RBF(columns=[2]) * Linear(columns=[0])", (0, 2)),
        ("Kumaraswamy(RBF(columns=[1]), columns=[0])", (1,)),
        ("ChangePoint(RBF(columns=[1]), Linear(columns=[1]), columns=[2])", (1, 2)),
        ("Invariant(RBF(columns=[0]), swap(0, 2))", (0, 2)),
        ("Invariant(RBF(columns=[0, 1]), reflections(0))", (0, 1)),
    ],
)
def test_which_columns_a_function_depends_on(text, columns):
    assert parse(text).resolve(["a", "b", "c"]).columns_read(3) == columns


def test_layers_are_written_out():
    nested = ConditionalDeep(
        ConditionalDeep(ConditionalDeep(hyperdata=3), hyperdata=3),
        hyperdata=3,
        exposed="matern-2.5",
    )
    assert ConditionalDeep(hyperdata=3, layers=4, exposed="matern-2.5").canonical() == (
        nested
    )
    assert parse("ConditionalDeep(layers=3)").layers == 2


@pytest.mark.parametrize("form", ["whitened", "free", "network"])
@pytest.mark.parametrize("exposed", ["rbf", "matern-2.5", "rational-quadratic"])
def test_while_it_does_not_bend_it_is_the_plain_kernel(form, exposed):
    structure = ConditionalDeep(form=form, exposed=exposed)
    kernel, plain = (s.kernel(KernelSpace(2)) for s in (structure, structure.plain))
    randomise(plain)
    names, identity = structure.lift(structure.plain)
    here, there = dict(kernel.named_parameters()), dict(plain.named_parameters())
    with torch.no_grad():
        for name, source in names.items():
            here[name].copy_(there[source])
        for name, value in identity.items():
            here[name].fill_(value)
    x = points(6, 2)
    torch.testing.assert_close(
        kernel.forward(x, x), plain.forward(x, x), rtol=0.0, atol=1e-4
    )


def test_a_deep_function_of_an_invariant_hidden_one_is_invariant():
    structure = ConditionalDeep(Invariant(A, S01), mean="zero", hyperdata=4)
    kernel = randomise(structure.kernel(KernelSpace(2)))
    x = points(5, 2)
    K = kernel.forward(x, x)
    torch.testing.assert_close(kernel.forward(x.flip(-1), x), K, rtol=0, atol=1e-10)
