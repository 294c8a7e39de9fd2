"""Sentences in raw units and with the names of columns."""

from __future__ import annotations

import pytest
import torch

from bokern.selection.axes import Axes, listed, number, percent, probability
from bokern.selection.terms import additive_terms
from bokern.selection.wording import phrase, slopes_in_words, spelled, symmetry
from bokern.structures import KernelSpace, parse

NAMES = ("year", "b", "c")
BOX = torch.tensor([[1949.0, -1.0, -1.0], [1961.0, 1.0, 1.0]]).double()


def said(text, **hyperparameters) -> str:
    """What is said of a structure, its hyperparameters given by their names."""
    structure = parse(text).resolve(NAMES)
    kernel = structure.kernel(KernelSpace(3))
    set_names = set()
    with torch.no_grad():
        for name, parameter in kernel.named_parameters():
            key = name.rpartition(".")[2].removeprefix("raw_")
            if key in hyperparameters:
                set_names.add(key)
                value = torch.as_tensor(hyperparameters[key]).double()
                raw = value if key in ("offset", "location_score") else value.log()
                parameter.copy_(raw.expand_as(parameter))
    assert set_names == set(hyperparameters)
    return phrase(structure, kernel, Axes.of(NAMES, BOX))


@pytest.mark.parametrize(
    ("text", "hyperparameters", "expected"),
    [
        (
            "RBF(columns=['year'])",
            {"lengthscale": 0.3},
            "a smooth function of year, varying over about 3.6 (30 % of its range)",
        ),
        (
            "RBF()",
            {"lengthscale": [0.5, 2.0, 4.0]},
            "a smooth function of year, b and c, varying over about 6 in year (50 % of "
            "its range) and 4 in b (2 times its range), almost straight in c over the "
            "range",
        ),
        (
            "Matern(2.5, columns=['b', 'c'])",
            {"lengthscale": 0.1},
            "a twice differentiable function of b and c, varying over about 0.2 in "
            "each of them (10 % of its range)",
        ),
        (
            "Matern(1.5, columns=['b'])",
            {"lengthscale": 5.0},
            "a once differentiable function of b, almost straight over the range",
        ),
        (
            "Matern(0.5, columns=['b'])",
            {"lengthscale": 1.0},
            "a rough (continuous, nowhere differentiable) function of b, varying over "
            "about 2 (about its range)",
        ),
        (
            "RationalQuadratic(columns=['b'])",
            {"lengthscale": 0.25},
            "a smooth multi-scale function of b, varying over about 0.5 (25 % of its "
            "range), with faster and slower variation mixed in",
        ),
        (
            "SparseSpectrum(nu=1.5, frequencies=16, columns=['b'])",
            {"lengthscale": 0.25},
            "a once differentiable function of b, varying over about 0.5 (25 % of its "
            "range), as a sum of 16 waves",
        ),
        (
            "SSWIM(frequencies=16, columns=['b'])",
            {"lengthscale": 0.25},
            "a function of b that learned processes stretch and bend, as a sum of 16 "
            "waves",
        ),
        (
            "WarpedMeasure(columns=['b'])",
            {"lengthscale": 0.25},
            "a function of b that learned processes stretch and bend",
        ),
        (
            # A deep kernel starts as a squared exponential of ℓ / (σ √H).
            "DeepSE(4, columns=['b'])",
            {"lengthscale": 0.3, "latent_scale": 0.5},
            "a smooth heavy-tailed function of b, varying over about 0.6 (30 % of its "
            "range)",
        ),
        (
            "Periodic(columns=['year'])",
            {"period": 1.0 / 12.0, "lengthscale": 1.0},
            "a periodic function of year with period 1 (its range holds 12)",
        ),
        (
            "Periodic(columns=['year'])",
            {"period": 1.5, "lengthscale": 2.0},
            "a periodic function of year with period 18 (its range holds less than "
            "one), nearly a sine",
        ),
        (
            "Periodic(columns=['b', 'c'])",
            {"period": [0.5, 0.25], "lengthscale": [0.3, 1.0]},
            "a periodic function of b and c with periods 1 in b (its range holds 2), "
            "with sharp features and 0.5 in c (its range holds 4)",
        ),
        ("Linear(columns=['b', 'c'])", {}, "a linear trend in b and c"),
        ("Linear(columns=['b']) * Linear(columns=['b'])", {}, "a quadratic trend in b"),
        (
            "Linear(columns=['b']) * Linear(columns=['c'])",
            {},
            "an interaction of linear trends in b and c",
        ),
        (
            "Periodic(columns=['year']) * RBF(columns=['year'])",
            {"period": 0.1, "lengthscale": 0.5},
            "a periodic function of year with period 1.2 (its range holds 10), its "
            "shape varying over about 6 (50 % of its range)",
        ),
        (
            "Periodic(columns=['year']) * Matern(0.5, columns=['b'])",
            {"period": 0.1, "lengthscale": 1.0},
            "a periodic function of year with period 1.2 (its range holds 10), "
            "different along b, varying over about 2 (about its range)",
        ),
        (
            "RBF(columns=['b']) * Linear(columns=['year'])",
            {"lengthscale": 0.5, "offset": 0.25},
            "a smooth function of b, varying over about 1 (50 % of its range), of an "
            "amplitude proportional to the distance of year from 1952",
        ),
        (
            "RBF(columns=['b']) * Linear(columns=['year'])",
            {"lengthscale": 0.5, "offset": -0.5},
            "a smooth function of b, varying over about 1 (50 % of its range), of an "
            "amplitude that grows linearly with year (zero at 1943)",
        ),
        (
            "RBF(columns=['b']) * Linear(columns=['year'])",
            {"lengthscale": 0.5, "offset": 1.5},
            "a smooth function of b, varying over about 1 (50 % of its range), of an "
            "amplitude that falls linearly with year (zero at 1967)",
        ),
        (
            "RBF(columns=['b']) * Matern(2.5, columns=['c'])",
            {"lengthscale": 0.5},
            "an interaction of b and c (twice differentiable in c, varying over about "
            "1 (50 % of its range); smooth in b, varying over about 1 (50 % of its "
            "range))",
        ),
        (
            "Periodic(columns=['b']) * Periodic(columns=['c'])",
            {"period": 0.5, "lengthscale": 1.0},
            "the product of a periodic function of b with period 1 (its range holds "
            "2) and a periodic function of c with period 1 (its range holds 2)",
        ),
        (
            "Invariant(RBF(columns=['b', 'c']), swap('b', 'c'))",
            {"lengthscale": 0.5},
            "a smooth function of b and c, varying over about 1 in each of them (50 % "
            "of its range), symmetric under exchange of b and c",
        ),
        (
            "Invariant(Linear(columns=['b']) + RBF(columns=['b']), reflections('b'))",
            {"lengthscale": 0.5},
            "a linear trend in b, symmetric about b = 0 plus a smooth function of b, "
            "varying over about 1 (50 % of its range), symmetric about b = 0",
        ),
        (
            "ChangePoint(Linear(columns=['b']), RBF(columns=['b']), columns=['year'])",
            {"location_score": 0.0, "width": 0.01, "lengthscale": 0.5},
            "a change at year = 1955 (gradual, over about 0.48): before it a linear "
            "trend in b; after it a smooth function of b, varying over about 1 (50 % "
            "of its range)",
        ),
        (
            "ConditionalDeep(RBF(columns=['b', 'c']))",
            {},
            "a function of b and c bent by hidden functions learned at 5 places",
        ),
        (
            "ConditionalDeep(Matern(1.5, columns=['b']), mean='zero', width=2, "
            "hyperdata=9)",
            {},
            "a function of 2 hidden functions of b learned at 9 places",
        ),
        (
            "ConditionalDeep(RBF(columns=['b']), mean='zero', hyperdata=0)",
            {},
            "a function of a hidden function of b",
        ),
    ],
)
def test_what_is_said(text, hyperparameters, expected) -> None:
    assert said(text, **hyperparameters) == expected


@pytest.mark.parametrize(
    ("width", "fading"),
    [
        (0.001, ""),
        (0.05, " (gradual, over about 2.4)"),
        (0.3, " (gradual, over more than the range)"),
    ],
)
def test_sides_of_a_change(width, fading) -> None:
    structure = parse("ChangePoint(Linear(columns=['b']), Linear(columns=['c']))")
    structure = structure.resolve(NAMES)
    kernel = structure.kernel(KernelSpace(3))
    kernel.initialize_hyperparameter("width", width)
    kernel.initialize_hyperparameter("location_score", -0.674489750196)  # a quarter
    before, after = additive_terms(structure, kernel)
    axes = Axes.of(NAMES, BOX)
    assert phrase(before.structure, before.kernel, axes) == (
        f"a linear trend in b, until year = 1952{fading}"
    )
    assert phrase(after.structure, after.kernel, axes) == (
        f"a linear trend in c, from year = 1952 on{fading}"
    )
    assert spelled(after.structure, NAMES) == "After(Linear(columns=['c']))"


@pytest.mark.parametrize(
    ("a", "b", "where"),
    [
        (0.4, 1.0, "near its low end"),
        (1.0, 0.4, "near its high end"),
        (3.0, 4.0, "in its middle"),
        (0.5, 0.5, "at both ends"),
    ],
)
def test_where_a_warp_stretches(a, b, where) -> None:
    text = said(
        "Kumaraswamy(RBF(columns=['b']))",
        concentration_a=a,
        concentration_b=b,
        lengthscale=0.2,
    )
    assert f"where b is stretched {where}" in text


def test_lengths_under_a_warp_are_those_of_each_third() -> None:
    # w(u) = 1 − (1 − u)², so that thirds become 5/9, 3/9 and 1/9.
    text = said(
        "Kumaraswamy(RBF(columns=['b']))",
        concentration_a=1.0,
        concentration_b=2.0,
        lengthscale=0.25,
    )
    assert text == (
        "a smooth function of b, varying over about 0.3 in the first third, 0.5 in the "
        "middle and 1.5 in the last third, where b is stretched near its low end (its "
        "thirds count 1.7, 1 and 0.33 times)"
    )


def test_a_warp_of_nothing_says_so_of_the_columns_read_alone() -> None:
    text = said("Kumaraswamy(Linear(columns=['b']))")
    assert text == "a linear trend in b, where b is hardly warped"


def test_warps_compose() -> None:
    text = said(
        "Kumaraswamy(Kumaraswamy(RBF(columns=['b']), columns=['b']))",
        concentration_a=1.0,
        concentration_b=2.0,
        lengthscale=0.25,
    )
    # w(w(u)) with w(u) = 1 − (1 − u)²: thirds become 65/81, 15/81 and 1/81.
    assert "its thirds count 2.4, 0.56 and 0.037 times" in text


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("permutations(3)", "symmetric under exchange of year, b and c"),
        ("cyclic(3)", "unchanged when year, b and c are shifted cyclically"),
        ("sign_flips('b', 'c')", "unchanged by the sign of b and c"),
        ("reflections('year')", "symmetric about year = 1955"),
        (
            "product(swap('b', 'c'), reflections('year'))",
            "symmetric about year = 1955 and symmetric under exchange of b and c",
        ),
        (
            "closure(swap('b', 'c'), reflections('b'))",
            "unchanged by a group of order 8: symmetric about b = 0 and symmetric "
            "under exchange of b and c",
        ),
    ],
)
def test_symmetries_in_words(group, expected) -> None:
    structure = parse(f"Invariant(RBF(), {group})").resolve(NAMES)
    assert symmetry(structure.group, Axes.of(NAMES, BOX)) == expected


def test_slopes_in_words() -> None:
    slopes = [("b", 3.14159, 0.0123), ("c", -200.4, 31.0)]
    assert slopes_in_words(slopes) == (
        "with slopes 3.14 ± 0.012 in b and −200 ± 31 in c"
    )
    assert slopes_in_words(slopes[:1]) == "rising by 3.14 ± 0.012 per unit of b"
    assert slopes_in_words(slopes[1:]) == "falling by 200 ± 31 per unit of c"


@pytest.mark.parametrize(
    "text",
    [
        "Kumaraswamy(RBF(columns=['b']), columns=['year'])",
        "Invariant(Matern(2.5), closure(swap('b', 'c'), reflections('b')))",
        "ChangePoint(Linear(columns=['b']), RBF(), columns=['year'])",
        "Invariant(RBF(columns=['b', 'c']), swap('b', 'c')) + Linear(columns=['c'])",
    ],
)
def test_texts_with_names_mean_the_same_columns(text) -> None:
    resolved = parse(text).resolve(NAMES)
    named = spelled(resolved, NAMES)
    assert "0" not in named.replace("columns", "")
    assert parse(named).resolve(NAMES) == resolved


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (-12.34, "−12.3"),
        (1234.5, "1234"),
        (0.012345, "0.0123"),
        (1e-9, "1e−09"),
        (2.5e9, "2.5e+09"),
    ],
)
def test_numbers(value, text) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.624, "62 %"),
        (0.0062, "0.6 %"),
        (0.0004, "less than 0.1 %"),
        (-0.12, "−12 %"),
        (1.3, "130 %"),
        (0.0, "0 %"),
    ],
)
def test_shares(value, text) -> None:
    assert percent(value) == text


def test_a_probability_is_never_certain() -> None:
    assert probability(1.0) == "more than 99.9 %"
    assert probability(0.5) == "50 %"


@pytest.mark.parametrize("low", [0.0, 1949.0, -3e-5, 1e8])
@pytest.mark.parametrize("width", [1e-4, 0.5, 12.0, 3e6])
def test_places_are_resolved_to_a_hundredth_of_the_range(low, width) -> None:
    box = torch.tensor([[low], [low + width]], dtype=torch.float64)
    axes = Axes.of(["x"], box)
    shown = float(axes.place(0, 0.437).replace("−", "-"))
    assert shown == pytest.approx(low + 0.437 * width, abs=0.006 * width)


def test_lists() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(list("abcde")) == "a, b, c, d and e"
    assert listed(list("abcdef")) == "a, b, c, d and 2 others"
