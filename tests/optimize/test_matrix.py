"""All bad input in one table: refused with advice and without a trace, or served."""

from __future__ import annotations

from collections import Counter

import pytest

from bokern.errors import StorageError
from tests.optimize.matrix import ITEMS, ROWS, SERVED, SHELL, Bench

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    Bench.make(folder)
    return Bench(folder)


@pytest.fixture
def bench(made, tmp_path):
    return made.copy(tmp_path)


@pytest.mark.parametrize("row", [r for r in ROWS if r.api is not None], ids=str)
def test_refused(row, bench):
    if row.prepare is not None:
        row.prepare(bench)
    before = bench.content()
    with pytest.raises(row.error) as caught:
        row.api(bench)
    message = str(caught.value)
    for words in row.says:
        assert words in message
    assert len(message) < 6000
    holder = getattr(bench, "holder", None)
    if holder is not None:
        holder.close()
    assert bench.content() == before
    if row.prepare is None:
        assert bench.study.check() == []
        assert [t.id for t in bench.study.pending] == [2, 3]


@pytest.mark.parametrize(
    "row", [pytest.param(s, id=str(s), marks=s.marks) for s in SERVED]
)
def test_served(row, bench):
    row.act(bench)


def test_each_item_of_the_matrix_is_tried():
    tried = {row.item for row in [*ROWS, *SERVED]}
    items = [item for group in ITEMS.values() for item in group]
    assert max(Counter(items).values()) == 1
    assert tried == set(items) - set(SHELL)


def test_each_row_has_its_own_name():
    names = Counter(map(str, [*ROWS, *SERVED]))
    assert [name for name, count in names.items() if count > 1] == []


def test_only_storage_fails_without_being_bad_input():
    """The help says: 1 failed, 2 bad usage or input."""
    for row in ROWS:
        assert (row.code == 1) <= (row.error is StorageError)
