"""Surrogates that cannot be fitted degrade, with a warning and a reason."""

from __future__ import annotations

import pytest

from bokern.ax import generation_strategy
from bokern.errors import FitError, FitWarning
from bokern.models import StructuredGP
from tests.ax.conftest import advance, make_client, record

pytestmark = pytest.mark.integration


def break_structures(monkeypatch, broken):
    """Makes models of the structures whose text ``broken`` accepts unbuildable."""
    original = StructuredGP.construct_inputs.__func__

    def construct(cls, training_data, *, structure="Matern(2.5)", **kwargs):
        if broken(str(structure)):
            raise FitError("injected failure")
        return original(cls, training_data, structure=structure, **kwargs)

    monkeypatch.setattr(StructuredGP, "construct_inputs", classmethod(construct))


@pytest.mark.parametrize(
    ("broken", "used", "named"),
    [
        (lambda text: "RBF" in text, "matern", r"Matern\(2.5\) instead"),
        (lambda text: True, "sobol", "Sobol points instead"),
    ],
)
def test_fit_failures(monkeypatch, broken, used, named):
    client = make_client(generation_strategy("RBF()", initial=3))
    advance(client, 3)
    break_structures(monkeypatch, broken)
    with pytest.warns(FitWarning, match=named):
        advance(client, 1)
    assert record(client).used == used
    assert "FitError: injected failure" in record(client).reasons[0]
    monkeypatch.undo()
    advance(client, 1)
    assert (record(client).used, record(client).reasons) == ("structure", [])


def test_generation_failures(monkeypatch):
    client = make_client(generation_strategy("RBF()", initial=3))
    advance(client, 3)
    original = StructuredGP.posterior

    def posterior(self, *args, **kwargs):
        if "RBF" in str(self.structure):
            raise RuntimeError("no posterior")
        return original(self, *args, **kwargs)

    monkeypatch.setattr(StructuredGP, "posterior", posterior)
    with pytest.warns(FitWarning, match="gave no candidate"):
        advance(client, 1)
    assert record(client).used == "matern"


def test_a_failed_comparison_keeps_the_incumbents(monkeypatch):
    def compare(*args, **kwargs):
        raise RuntimeError("no evidence")

    monkeypatch.setattr("bokern.ax.searching.compare", compare)
    client = make_client(generation_strategy(["Matern(2.5)", "RBF()"], initial=3))
    with pytest.warns(FitWarning, match="no evidence.*Kept the structures in use"):
        advance(client, 4)
    assert record(client).used == "structure"
    assert record(client).incumbents == {}
    assert record(client).searched_at == {"y": 3}
    assert "no evidence" in record(client).reasons[0]
    monkeypatch.undo()
    advance(client, 1)
    assert set(record(client).evidence["y"]) == {"Matern(2.5)", "RBF()"}
    assert (record(client).searched_at, record(client).reasons) == ({"y": 4}, [])


@pytest.mark.filterwarnings("ignore:.*is left out:bokern.errors.FitWarning")
def test_the_others_are_tried_if_the_first_structure_cannot_be_fitted(monkeypatch):
    original, fitted = StructuredGP.fit, []

    def fit(self, *args, **kwargs):
        fitted.append(str(self.structure))
        if "RBF" in fitted[-1]:
            raise FitError("injected failure")
        return original(self, *args, **kwargs)

    monkeypatch.setattr(StructuredGP, "fit", fit)
    client = make_client(generation_strategy(["RBF()", "Matern(1.5)"], initial=3))
    advance(client, 4)
    assert record(client).incumbents == {"y": {"Matern(1.5)": 1.0}}
    assert (record(client).used, record(client).reasons) == ("structure", [])
    # Compared once, then the winner alone: the incumbent is not fitted beforehand.
    assert fitted == ["RBF()", "Matern(1.5)", "Matern(1.5)"]


@pytest.mark.filterwarnings("ignore::bokern.errors.FitWarning")
def test_it_degrades_if_the_winner_cannot_be_fitted_after_all(monkeypatch):
    strategy = generation_strategy(["RBF()", "Linear()"], selection="winner", initial=3)
    client = make_client(strategy)
    advance(client, 3)
    break_structures(monkeypatch, lambda text: "Matern" not in text)
    advance(client, 1)
    assert set(record(client).evidence["y"]) == {"RBF()", "Linear()"}
    assert (record(client).used, record(client).searched_at) == ("matern", {"y": 3})
