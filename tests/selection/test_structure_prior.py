from __future__ import annotations

import math

import pytest

from bokern.selection import structure_log_prior
from bokern.structures import parse


def log_prior(*texts: str) -> dict[str, float]:
    structures = [parse(text) for text in texts]
    return dict(zip(texts, structure_log_prior(structures), strict=True))


def test_it_is_normalised_and_a_single_one_is_certain():
    assert log_prior("RBF()") == {"RBF()": 0.0}
    found = log_prior("RBF()", "Matern(2.5)", "Linear()", "DeepSE()")
    assert sum(map(math.exp, found.values())) == pytest.approx(1.0)


def test_variants_of_one_family_share_its_mass():
    few = log_prior("RBF()", "Kumaraswamy(RBF())")
    many = log_prior("RBF()", "Matern(0.5)", "Matern(1.5)", "Kumaraswamy(RBF())")
    assert few["Kumaraswamy(RBF())"] == pytest.approx(math.log(0.5))
    assert many["Kumaraswamy(RBF())"] == pytest.approx(math.log(0.5))
    assert many["RBF()"] == pytest.approx(math.log(0.5 / 3.0))


def test_each_node_costs_a_nat_within_its_family():
    found = log_prior("Linear() + RBF()", "Linear() + Matern(2.5) + RBF()")
    gap = found["Linear() + RBF()"] - found["Linear() + Matern(2.5) + RBF()"]
    assert gap == pytest.approx(1.0)
