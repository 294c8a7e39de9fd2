"""Text and JSON of structures, and what a hostile text does."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bokern.errors import BokernError, GroupError, StructureError
from bokern.structures import (
    RBF,
    SCHEMA_VERSION,
    ConditionalDeep,
    DeepSE,
    Invariant,
    Kumaraswamy,
    Linear,
    Matern,
    Periodic,
    Structure,
    as_structure,
    catalogue,
    parse,
    permutations,
)
from bokern.structures.base import REGISTRY
from bokern.structures.catalogue import EXAMPLES
from tests import strategies
from tests.strategies import NAMES

any_structure = st.booleans().flatmap(lambda names: strategies.structures(3, names))


@pytest.mark.property
@given(any_structure)
def test_text_and_json_read_back(structure):
    canonical = structure.canonical()
    assert parse(str(structure)) == canonical
    assert str(parse(str(canonical))) == str(canonical)
    document = json.loads(json.dumps(structure.to_json()))
    assert document["version"] == SCHEMA_VERSION
    assert Structure.from_json(document) == canonical


@pytest.mark.property
@given(any_structure)
def test_canonical_is_idempotent_and_resolving_keeps_it(structure):
    canonical = structure.canonical()
    assert canonical.canonical() == canonical
    assert hash(canonical.canonical()) == hash(canonical)
    resolved = structure.resolve(NAMES[:3])
    assert resolved.canonical() == resolved == canonical.resolve(NAMES[:3])
    assert parse(str(resolved)) == resolved


@pytest.mark.parametrize(
    ("text", "structure"),
    [
        ("Matern(0.5)", Matern(0.5)),
        (" Matern ( nu = 1.5 , columns=['a'] ) ", Matern(1.5, columns=["a"])),
        ("DeepSE(3, columns=[0, 2])", DeepSE(3, columns=[0, 2])),
        (
            "ConditionalDeep(Matern(1.5, columns=['a']), hyperdata=9, reach=2)",
            ConditionalDeep(Matern(1.5, columns=["a"]), hyperdata=9, reach=2.0),
        ),
        (
            "ConditionalDeep(exposed='periodic', mean='zero', form='network')",
            ConditionalDeep(exposed="periodic", mean="zero", form="network"),
        ),
        ("Linear()+RBF()*Periodic()", Linear() + RBF() * Periodic()),
        ("(Linear() + RBF()) * Periodic()", (Linear() + RBF()) * Periodic()),
        ("Kumaraswamy(RBF())", Kumaraswamy(RBF())),
        (
            "Invariant(RBF(), permutations(3), tied=False)",
            Invariant(RBF(), permutations(3), tied=False),
        ),
    ],
)
def test_text_by_hand(text, structure):
    assert parse(text) == structure == as_structure(text) == as_structure(structure)


@pytest.mark.contract
def test_every_class_has_an_example_that_parses():
    shown = {type(example) for example in EXAMPLES}
    assert shown == set(REGISTRY.values())
    for entry, example in zip(catalogue(), EXAMPLES, strict=True):
        assert parse(entry.text) == example
        assert entry.family == example.family
        assert entry.summary
        assert "\n" not in entry.summary


HOSTILE = [
    "__import__('os').system('touch hacked')",
    "().__class__.__bases__[0].__subclasses__()",
    "RBF().__class__",
    "RBF.__init__",
    "lambda: RBF()",
    "[RBF() for _ in range(10**9)]",
    "RBF() if True else Linear()",
    "9**9**9**9",
    "Matern(9**9**9)",
    "RBF(columns=[1] * 10**9)",
    "RBF(columns=range(10**9))",
    "RBF() ** 2",
    "RBF() - Linear()",
    "2 * RBF()",
    "RBF() + 1",
    "f'{RBF()}'",
    "b'RBF()'",
    "RBF(*[1])",
    "RBF(**{'columns': [0]})",
    "(" * 1000 + "RBF()" + ")" * 1000,
    "-" * 3000 + "1",
    "[" * 1500,
    "+".join(["RBF()"] * 600),
    "Kumaraswamy(" * 300 + "RBF()" + ")" * 300,
    "Matern(" + "9" * 3900 + ")",
    "RBF()" + " " * 10**6 + "+ RBF()",
    "RBF()\0",
    "RBF(",
    "",
    "RBF",
    "Sum((RBF(), Linear()))",
    "Nope()",
    "RBF(3)",
    "RBF(rows=[1])",
    "Matern(2.5, 3)",
    "swap(0, 1)",
    "swap(0, 1) + RBF()",
    "Kumaraswamy('RBF()')",
    "Invariant(RBF(), RBF())",
    "eval('RBF()')",
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:24].replace("\0", ""))
def test_hostile_text_is_refused_in_time_or_means_a_structure(text, tmp_path):
    start = time.process_time()
    if text.startswith(("+", "RBF()+RBF()", "Kumaraswamy(Kum")):
        with contextlib.suppress(StructureError):
            assert isinstance(parse(text), Structure)
    else:
        with pytest.raises(BokernError) as caught:
            parse(text)
        assert len(str(caught.value)) < 1000
    assert time.process_time() - start < 2.0


@pytest.mark.parametrize("value", [None, 3, ["RBF()"], b"RBF()"])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(StructureError, match="text"):
        parse(value)
    with pytest.raises(StructureError, match="or its text"):
        as_structure(value)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (None, "object with 'version'"),
        ({"version": 1}, "object with 'version'"),
        ({"structure": "RBF()"}, "version None"),
        ({"version": 2, "structure": "RBF()"}, "update bokern"),
        ({"version": 1, "structure": 3}, "text is a string"),
        ({"version": 1, "structure": "Nope()"}, "unknown structure"),
    ],
)
def test_malformed_documents_are_refused(document, words):
    with pytest.raises(StructureError, match=words):
        Structure.from_json(document)


def test_unknown_names_are_told_what_there_is():
    with pytest.raises(StructureError, match=r"'Mattern'.*RBF.*permutations"):
        parse("Mattern(2.5)")
    with pytest.raises(StructureError, match=r"write RBF\(\)"):
        parse("RBF + Linear()")
    with pytest.raises(GroupError, match="n >= 2"):
        parse("Invariant(RBF(), cyclic(1))")
