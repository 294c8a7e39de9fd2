"""The card that Ax shows of the structures."""

from __future__ import annotations

import pytest
from ax.storage.json_store.decoder import object_from_json
from ax.storage.json_store.encoder import object_to_json

from bokern.ax import StructureAnalysis, generation_strategy, structure_history
from bokern.errors import InputError
from tests.ax.conftest import advance, branin_like, make_client

pytestmark = pytest.mark.integration
TWO = ["Matern(2.5)", "RBF()"]


@pytest.fixture(scope="module")
def client():
    found = make_client(
        generation_strategy(TWO, initial=4), constraints=["cost <= 1.2"]
    )
    advance(found, 6, lambda p: {"y": branin_like(p), "cost": p["a"]})
    return found


@pytest.mark.parametrize("metric", [None, "y", "cost"])
def test_a_card_for_each_metric(client, metric):
    (card,) = client.compute_analyses([StructureAnalysis(metric)], display=False)
    shown = metric or structure_history(client)["metric"][0]
    assert card.title == f"Structures of {shown}"
    assert set(card.df["structure"]) == set(TWO)
    assert set(card.df["metric"]) == {shown}
    assert card.subtitle.startswith(("4 observations: ", "5 observations: "))
    assert {trace.name for trace in card.get_figure().data} == set(TWO)
    assert "plotly" in card._body_html(depth=0)


def test_it_says_why_there_is_none(client):
    fresh = make_client(generation_strategy(TWO, initial=4))
    assert "no structures were compared yet" in (
        StructureAnalysis().validate_applicable_state(fresh._experiment)
    )
    assert "not for 'gain'" in (
        StructureAnalysis("gain").validate_applicable_state(client._experiment)
    )
    assert "needs an experiment" in StructureAnalysis().validate_applicable_state()
    with pytest.raises(InputError, match="no structures were compared"):
        StructureAnalysis().compute(fresh._experiment)


def test_a_card_is_stored_and_read_back(client):
    card = StructureAnalysis().compute(client._experiment)
    again = object_from_json(object_to_json(card))
    assert again.title == card.title
    assert again.blob == card.blob
