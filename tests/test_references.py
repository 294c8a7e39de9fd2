"""Keys in docstrings resolve."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bokern
from bokern.references import REFERENCES

PACKAGE = Path(bokern.__file__).parent
CITATION = re.compile(r"References:\n((?:[ ]+.+\n)+)")
KEY = re.compile(r"\[([A-Z][\w-]+)\]")


def cited():
    for path in sorted(PACKAGE.rglob("*.py")):
        for block in CITATION.findall(path.read_text(encoding="utf-8")):
            for key in KEY.findall(block):
                yield path.relative_to(PACKAGE).as_posix(), key


def test_every_key_that_a_docstring_cites_is_known():
    found = list(cited())
    assert ("kernels/view_sum.py", "Invariance") in found
    assert not {pair for pair in found if pair[1] not in REFERENCES}


@pytest.mark.parametrize("key", REFERENCES)
def test_a_reference_has_authors_a_title_and_a_year(key):
    assert re.fullmatch(r"[^:]+: .+\. .*\b(19|20)\d\d\.", REFERENCES[key])


def test_references_cannot_be_changed():
    with pytest.raises(TypeError):
        REFERENCES["new"] = "Nobody: Nothing. Nowhere, 2000."
