from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace

import pytest

from bokern.errors import ComparisonError, EvidenceWarning, StorageError
from bokern.evidence import Evidence, laplace, preference
from tests.evidence.data import model_of, observations


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return laplace(model_of("RBF()", *observations(), starts=1).fit())


def test_a_gap_in_nats(evidence):
    other = replace(evidence, log_evidence=evidence.log_evidence - 2.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evidence - other == pytest.approx(2.5)


@pytest.mark.parametrize("name", ["data_fingerprint", "likelihood"])
def test_other_data_or_likelihood_do_not_compare(evidence, name):
    other = replace(evidence, **{name: "another"})
    with pytest.raises(ComparisonError, match=f"different {name.replace('_', ' ')}.*"):
        evidence - other


@pytest.mark.parametrize(
    ("name", "value"), [("inference", "bound"), ("integration", "map")]
)
def test_other_kinds_compare_with_a_warning(evidence, name, value):
    other = replace(evidence, **{name: value})
    with pytest.warns(EvidenceWarning, match=f"{evidence.kind} and {other.kind}"):
        assert evidence - other == 0.0


def test_known_and_inferred_noise_do_not_compare(evidence):
    known = laplace(model_of("RBF()", *observations(), noise=0.1, starts=1).fit())
    with pytest.raises(ComparisonError, match="gaussian, known noise"):
        evidence - known


def test_json_round_trip(evidence):
    flagged = replace(evidence, flags=("BLIND", "ONE_HIT"))
    document = json.loads(json.dumps(flagged.to_json()))
    assert Evidence.from_json(document) == flagged


@pytest.mark.parametrize("change", [{"seed": None}, {"extra": 1}])
def test_a_garbled_document_is_refused(evidence, change):
    document = evidence.to_json() | change
    if "seed" in change:
        del document["seed"]
    with pytest.raises(StorageError, match="a stored evidence has the fields"):
        Evidence.from_json(document)


@pytest.mark.parametrize(
    ("gap", "word"),
    [
        (0.0, "no"),
        (0.99, "no"),
        (1.0, "weak"),
        (-2.9, "weak"),
        (3.0, "moderate"),
        (-40.0, "strong"),
        (math.inf, "strong"),
    ],
)
def test_words(gap, word):
    assert word in preference(gap).split()
