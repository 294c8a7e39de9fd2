"""Hypothesis strategies for groups and structures."""

from __future__ import annotations

from hypothesis import strategies as st

from bokern.structures import (
    RBF,
    ChangePoint,
    ConditionalDeep,
    DeepSE,
    Invariant,
    Kumaraswamy,
    Linear,
    Matern,
    Periodic,
    Product,
    RationalQuadratic,
    Sum,
)
from bokern.views import (
    closure,
    cyclic,
    permutations,
    product,
    reflections,
    sign_flips,
    swap,
)

NAMES = ("a", "b's", 'quo"ted', "naïve x")
"""Column names that text must survive."""


def columns(dim, at_least=0, names=False):
    """Distinct columns, by number or by name."""
    pool = st.sampled_from(NAMES[:dim]) if names else st.integers(0, dim - 1)
    return st.lists(pool, min_size=at_least, max_size=dim, unique=True)


def _on_columns(chosen):
    makers = [reflections(*chosen), sign_flips(*chosen)]
    if len(chosen) >= 2:
        makers += [permutations(len(chosen), chosen), cyclic(len(chosen), chosen)]
        makers += [swap(*chosen[:2]), closure(cyclic(len(chosen), chosen), makers[0])]
    if len(chosen) >= 3:
        makers.append(product(reflections(chosen[0]), cyclic(2, chosen[1:3])))
    return st.sampled_from(makers)


def groups(dim, names=False):
    """Groups on some of ``dim`` columns."""
    return columns(dim, at_least=1, names=names).flatmap(_on_columns)


def _deep(some):
    """With hyperdata or without, over one hidden function or one a column."""
    base = st.one_of(st.builds(RBF, columns=some), st.builds(DeepSE, columns=some))
    radial = st.sampled_from(("rbf", "matern-1.5", "rational-quadratic"))
    options = {"hyperdata": st.integers(0, 3), "layers": st.integers(2, 3)}
    forms = {"form": st.sampled_from(("whitened", "free", "network"))}
    return st.one_of(
        st.builds(ConditionalDeep, base, exposed=radial, **options, **forms),
        st.builds(
            ConditionalDeep,
            base,
            exposed=st.sampled_from(("periodic", "squared-cosine")),
            mean=st.just("zero"),
            **options,
        ),
    )


def structures(dim=3, names=False, averages=True):
    """Nested structures over ``dim`` columns, with or without averages over groups."""
    some = columns(dim, names=names)
    leaves = st.one_of(
        *(st.builds(c, columns=some) for c in (RBF, RationalQuadratic, Periodic)),
        st.builds(Linear, columns=some),
        st.builds(Matern, st.sampled_from((0.5, 1.5, 2.5)), columns=some),
        st.builds(DeepSE, st.integers(1, 4), columns=some),
        _deep(some),
    )
    return st.recursive(
        leaves, lambda inner: _wrapped(inner, dim, names, averages), max_leaves=6
    )


def _wrapped(inner, dim, names, averages):
    one = st.sampled_from(NAMES[:dim]) if names else st.integers(0, dim - 1)
    parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
    nodes = [
        st.builds(Sum, parts),
        st.builds(Product, parts),
        st.builds(ChangePoint, inner, inner, columns=st.tuples(one)),
        st.builds(Kumaraswamy, inner, columns=columns(dim, names=names)),
    ]
    if averages:
        flags = {"tied": st.booleans(), "normalize": st.booleans()}
        nodes.append(st.builds(Invariant, inner, groups(dim, names), **flags))
    return st.one_of(*nodes)
