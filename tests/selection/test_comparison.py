from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from bokern.errors import InputError, StorageError
from bokern.evidence import AVERAGE_WITHIN, FLAGS, laplace
from bokern.models import MixtureGP, StructuredGP
from bokern.selection import Comparison, compare
from bokern.structures import parse

COLUMNS = [
    "structure",
    "log_evidence",
    "standard_error",
    "gap",
    "log_prior",
    "probability",
    "family",
    "hyperparameters",
    "effective_hyperparameters",
    "bic",
    "leave_one_out",
    "flags",
    "seconds",
]


def with_gaps(comparison: Comparison, *gaps: float) -> Comparison:
    """The same candidates with evidences at chosen distances below the best."""
    top = comparison.evidences[0]
    candidates = [
        replace(c, evidence=replace(top, log_evidence=top.log_evidence - gap))
        for c, gap in zip(comparison.candidates, gaps, strict=False)
    ]
    return Comparison(candidates, comparison.data, comparison.settings)


# -- the table ------------------------------------


def test_the_table(comparison):
    table = comparison.table
    assert list(table.columns) == COLUMNS
    assert table["probability"].sum() == pytest.approx(1.0)
    joint = np.exp(
        table["log_evidence"] - table["log_evidence"].max() + table["log_prior"]
    )
    np.testing.assert_allclose(table["probability"], joint / joint.sum())
    evidences = comparison.evidences
    assert table["hyperparameters"].tolist() == [e.n_hyperparameters for e in evidences]
    assert table["flags"].tolist() == [" ".join(e.flags) for e in evidences]
    assert pd.api.types.is_integer_dtype(table["hyperparameters"])


def test_the_most_probable_leads_and_not_the_luckiest_of_many(comparison):
    many = [parse(f"RBF() + Linear(columns=['{c}'])") for c in "ab"]
    many += [parse(f"RBF() + Periodic(columns=['{c}'])") for c in "ab"]
    top = comparison.candidates[0]
    evidence = replace(top.evidence, log_evidence=0.0)
    ahead = replace(evidence, log_evidence=0.6)
    candidates = [replace(top, structure=s, evidence=ahead) for s in many]
    candidates.append(replace(top, structure=parse("RBF()"), evidence=evidence))
    found = Comparison(candidates, comparison.data, comparison.settings)
    assert str(found.best) == "RBF()"
    assert list(found.probabilities) == sorted(found.probabilities, reverse=True)
    np.testing.assert_allclose(found.table["gap"], [0.0, 0.6, 0.6, 0.6, 0.6])
    assert found.statement == (
        f"The data show no preference for {found.structures[1]} over RBF() (0.6 nats), "
        "which stays the more probable by its prior; average rather than pick."
    )


def test_priors_and_fitted_values_are_listed(comparison):
    priors = comparison.priors
    assert list(priors.columns) == ["structure", "hyperparameter", "prior", "fitted"]
    counts = priors.groupby("structure").size()
    assert set(counts.index) == set(comparison.table["structure"])
    assert not (priors["prior"] == "none").any()
    plain = priors[priors["structure"] == "RBF()"].set_index("hyperparameter")
    assert set(plain.index) == {"mean", "outputscale", "lengthscale", "noise"}
    assert plain["prior"]["noise"] == "0.0001 + LogNormal(-4, 1)"
    assert plain["prior"]["mean"] == "Normal(0, 1)"
    model = comparison.model("RBF()")
    shown = float(plain["fitted"]["outputscale"])
    assert shown == pytest.approx(model.covar_module.outputscale.item(), rel=1e-3)
    noise = float(plain["fitted"]["noise"])
    assert noise == pytest.approx(model.likelihood.noise.item(), rel=1e-3)


# -- beliefs ------------------------------------


def test_probability_of_kinds_structures_and_predicates(comparison):
    table = comparison.table.set_index("structure")["probability"]
    for structure, value in table.items():
        assert comparison.probability(structure) == pytest.approx(value)
    swap = table["Invariant(RBF(), swap('a', 'b'))"]
    assert comparison.probability("invariant") == pytest.approx(swap)
    assert comparison.probability("warped") == pytest.approx(
        table["Kumaraswamy(RBF())"]
    )
    assert comparison.probability("stationary") + comparison.probability(
        "nonstationary"
    ) == pytest.approx(1.0)
    assert comparison.probability("deep") == 0.0
    with pytest.raises(InputError, match=r"Matern\(0\.5\) was not compared"):
        comparison.probability("Matern(0.5)")
    everything = comparison.probability(lambda s: True)
    assert everything == pytest.approx(1.0)


@pytest.mark.parametrize("what", [3, None, "wraped", ["RBF()"]])
def test_probability_of_anything_else_is_refused(comparison, what):
    with pytest.raises(InputError):
        comparison.probability(what)


@pytest.mark.parametrize(
    ("gap", "words", "advice"),
    [
        (0.4, "no preference", True),
        (2.0, "a weak preference", True),
        (4.0, "a moderate preference", True),
        (6.0, "a strong preference", False),
    ],
)
def test_the_statement_uses_the_agreed_words(comparison, gap, words, advice):
    statement = with_gaps(comparison, 0.0, gap).statement
    assert f"show {words} for" in statement
    assert f"{gap:.1f} nats" in statement
    assert ("average rather than pick" in statement) is advice


# -- models ------------------------------------


def test_the_best_model_predicts_in_raw_units(comparison, frame):
    model = comparison.model()
    assert isinstance(model, StructuredGP)
    assert model.structure == comparison.best.resolve(("a", "b"))
    X, y = comparison.X, comparison.y
    assert (model.posterior(X).mean.squeeze(-1) - y).abs().max() < 30.0
    torch.testing.assert_close(model.bounds, comparison.bounds)
    other = comparison.model("Linear(columns=['b'])")
    assert str(other.given_structure) == "Linear(columns=['b'])"
    with pytest.raises(InputError, match=r"Matern\(0.5\) was not compared: expected"):
        comparison.model("Matern(0.5)")


def test_the_average_mixes_what_is_close(comparison):
    close = with_gaps(comparison, 0.0, 1.0, AVERAGE_WITHIN - 0.1, AVERAGE_WITHIN + 0.1)
    mixture = close.model(average=True)
    assert isinstance(mixture, MixtureGP)
    assert len(mixture.members) == 3
    share = torch.tensor(close.probabilities[:3], dtype=torch.float64)
    torch.testing.assert_close(mixture.weights, share / share.sum())
    at = comparison.X[:3]
    expected = torch.stack([m.posterior(at).mean for m in mixture.members])
    weighted = (mixture.slot_weights[:, None, None] * expected).sum(0)
    torch.testing.assert_close(mixture.posterior(at).mixture_mean, weighted)
    with pytest.raises(InputError, match="not both"):
        close.model("RBF()", average=True)


def test_hyperparameters_are_averaged_over_on_demand(comparison):
    one = comparison.model(draws=6)
    assert isinstance(one, MixtureGP)
    assert list(map(str, one.structures)) == [str(comparison.model().structure)]
    assert one.batch_shape == torch.Size([6])
    at = comparison.X[:4]
    assert (one.posterior(at).mean.std(-3) > 0).all()
    both = with_gaps(comparison, 0.0, 0.1, 99.0, 99.0).model(average=True, draws=8)
    assert len(both.members) == 2
    assert both.atom_weights.shape == torch.Size([8])
    for draws in (-1, 1.5, "16", True, 33):
        with pytest.raises(InputError, match="whole number from 0"):
            comparison.model(draws=draws)


# -- text and HTML ------------------------------------


def test_text_and_html(comparison):
    text = str(comparison)
    assert comparison.statement in text
    for structure in comparison.table["structure"]:
        assert structure in text
    shown = comparison._repr_html_()
    assert "swap(&#x27;a&#x27;, &#x27;b&#x27;)" in shown
    assert "<table" in shown
    assert "best Invariant" in repr(comparison)
    flagged = replace(comparison.evidences[0], flags=("BLIND",))
    candidate = replace(comparison.candidates[0], evidence=flagged)
    single = Comparison([candidate], comparison.data, comparison.settings)
    assert f"BLIND: {FLAGS['BLIND']}" in str(single)


# -- storage ------------------------------------


def assert_equal(found: Comparison, expected: Comparison) -> None:
    assert found.structures == expected.structures
    assert found.evidences == expected.evidences
    assert found.failures == expected.failures
    assert found.settings == expected.settings
    assert found.notes == expected.notes
    assert found.column_names == expected.column_names
    assert torch.equal(found.X, expected.X)
    assert torch.equal(found.bounds, expected.bounds)
    pd.testing.assert_frame_equal(found.table, expected.table)
    pd.testing.assert_frame_equal(found.priors, expected.priors)


@pytest.mark.parametrize("by", ["text", "path", "text of a path"])
def test_json_round_trip_without_a_refit(comparison, tmp_path, monkeypatch, by):
    path = tmp_path / "comparison.json"
    text = comparison.to_json(path)
    assert path.read_text(encoding="utf-8") == text
    source = {"text": text, "path": path, "text of a path": str(path)}[by]
    expected = comparison.model().posterior(comparison.X + 0.1)
    monkeypatch.setattr(StructuredGP, "fit", None)
    again = Comparison.from_json(source)
    assert_equal(again, comparison)
    found = again.model().posterior(comparison.X + 0.1)
    torch.testing.assert_close(found.mean, expected.mean, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(found.variance, expected.variance, rtol=1e-12, atol=0)
    assert isinstance(again.model(average=True), MixtureGP)


def test_float32_noise_and_failures_survive(comparison):
    data = comparison.data
    single = replace(
        data,
        X=data.X.float(),
        y=data.y.float(),
        bounds=data.bounds.float(),
        noise=torch.full_like(data.y.float(), 0.1),
        notes=("a note",),
    )
    failures = (("Linear()", "FitError: none"),)
    stored = Comparison(comparison.candidates, single, comparison.settings, failures)
    again = Comparison.from_json(stored.to_json())
    assert_equal(again, stored)
    assert again.X.dtype == again.data.noise.dtype == torch.float32


def changed(comparison: Comparison, **change: object) -> str:
    return json.dumps(json.loads(comparison.to_json()) | change)


def without(comparison: Comparison, key: str) -> str:
    document = json.loads(comparison.to_json())
    del document[key]
    return json.dumps(document)


BROKEN = {
    "cut short": (lambda c: c.to_json()[:200], "not a stored comparison"),
    "another kind": (lambda c: changed(c, kind="model"), "kind 'bokern.Comparison'"),
    "a list": (lambda c: '{"kind": []}', "kind 'bokern.Comparison'"),
    "a newer version": (lambda c: changed(c, version=99), "version 99.*update bokern"),
    "no data": (lambda c: without(c, "data"), "lacks or garbles 'data'"),
    "no candidates": (lambda c: changed(c, candidates=[]), "there are none"),
    "garbled candidates": (lambda c: changed(c, candidates=[{}]), "'structure'"),
    "foreign settings": (lambda c: changed(c, settings={"a": 1}), "'a'"),
    "words as data": (
        lambda c: changed(
            c, data=json.loads(c.to_json())["data"] | {"X": [["a", "b"]]}
        ),
        "lacks or garbles",
    ),
    "a missing file": (lambda c: "nowhere.json", "cannot read 'nowhere.json'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_storage_errors(comparison, name):
    make, message = BROKEN[name]
    with pytest.raises(StorageError, match=message):
        Comparison.from_json(make(comparison))


def test_files_that_cannot_be_read_or_written(comparison, tmp_path, monkeypatch):
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StorageError, match="cannot read"):
        Comparison.from_json(binary)
    with pytest.raises(StorageError, match=re.escape("cannot write")):
        comparison.to_json(tmp_path / "missing" / "x.json")
    monkeypatch.setattr("bokern.selection.storage.MAX_FILE_BYTES", 1)
    with pytest.raises(StorageError, match="larger than 1 bytes"):
        Comparison.from_json(binary)


def test_numbers_survive_to_the_last_bit(comparison):
    document = json.loads(comparison.to_json())
    for stored, c in zip(document["candidates"], comparison.candidates, strict=True):
        assert tuple(stored["fit"]["theta"]) == c.fit.theta
        assert math.isfinite(stored["evidence"]["log_evidence"])
    assert parse(document["candidates"][0]["structure"]["structure"]) == (
        comparison.best
    )


def test_a_model_keeps_how_it_was_fitted(comparison):
    for c in Comparison.from_json(comparison.to_json()).candidates:
        model = comparison.model(c.structure)
        assert model.fit_result == c.fit
        again = laplace(model)
        assert again.log_evidence == pytest.approx(c.evidence.log_evidence, abs=1e-9)
        own = {"NESTED_VIOLATION"}
        assert set(again.flags) == set(c.evidence.flags) - own


def test_columns_are_found_by_name_and_by_number(comparison):
    best = comparison.best.resolve(comparison.column_names)
    assert comparison.probability(best) == comparison.probability(comparison.best)
    assert str(comparison.model(best).structure) == str(comparison.model().structure)


def test_hyperparameters_carry_the_part_that_they_belong_to():
    X = torch.linspace(0.0, 1.0, 12, dtype=torch.float64)
    y = torch.sin(9.0 * X)
    found = compare(
        ["RBF()", "RBF() + RBF() * Periodic()", "Kumaraswamy(Matern(1.5))"],
        X,
        y,
        starts=1,
    )
    names = {
        structure: list(rows["hyperparameter"])
        for structure, rows in found.priors.groupby("structure")
    }
    assert names["RBF()"] == ["mean", "outputscale", "lengthscale", "noise"]
    assert "Kumaraswamy(Matern): concentration_a" in names["Kumaraswamy(Matern(1.5))"]
    both = names[str(parse("RBF() + RBF() * Periodic()"))]
    assert len(set(both)) == len(both)
    assert {"Periodic * RBF: outputscale", "RBF: lengthscale (#2)"} <= set(both)


def test_an_unknown_kind_is_answered_with_the_known_ones(comparison):
    with pytest.raises(InputError, match=r"expects a kind .*invariant.*'symmetric'"):
        comparison.probability("symmetric")
