from __future__ import annotations

import pytest

from bokern.cli.candidates import MULTIVARIATE, UNIVARIATE, default_structures
from bokern.structures import parse


def test_the_list_depends_on_the_number_of_columns() -> None:
    assert default_structures(1) == UNIVARIATE
    assert default_structures(2) == default_structures(9) == MULTIVARIATE


@pytest.mark.parametrize("texts", [UNIVARIATE, MULTIVARIATE])
def test_all_parse_and_differ(texts: tuple[str, ...]) -> None:
    assert len({parse(text) for text in texts}) == len(texts)
