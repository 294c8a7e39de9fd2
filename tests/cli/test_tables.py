from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from bokern.cli import tables
from bokern.cli.tables import features_and_target, read_table
from bokern.errors import ColumnError, DataError


def _write(path: Path, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"x,y\n1,2\n3,4.5\n"),
        ("a.tsv", b"x\ty\n1\t2\n3\t4.5\n"),
        ("a.csv", b"x;y\r\n1;2\r\n3;4.5\r\n"),
        ("a.csv", b"\xef\xbb\xbfx,y\n1,2\n3,4.5"),
        ("a.csv.gz", gzip.compress(b"x,y\n1,2\n3,4.5\n", mtime=0)),
        ("a.csv", b'"x",y\n1,"2"\n3,4.5\n'),
    ],
)
def test_reads(tmp_path: Path, name: str, content: bytes) -> None:
    X, y = features_and_target(read_table(_write(tmp_path / name, content)), "y", None)
    assert X.columns.tolist() == ["x"]
    assert X["x"].tolist() == [1.0, 3.0]
    assert (y.name, y.tolist()) == ("y", [2.0, 4.5])


def test_columns_keep_the_order_asked_for(tmp_path: Path) -> None:
    table = read_table(_write(tmp_path / "a.csv", "a,b,c\n1,2,3\n"))
    assert features_and_target(table, "a", ["c", "b"])[0].columns.tolist() == ["c", "b"]


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("", DataError, "header line"),
        ("\n1,2\n", DataError, "header line"),
        ("x,,y\n1,2,3\n", ColumnError, "a name for each column"),
        ("x,x,y\n1,2,3\n", ColumnError, r"\['x'\] more than once"),
        ("x,y\n1,2\n1,2,3\n", DataError, "line 3"),
        ("x,y\n1,2,3\n4,5,6\n", DataError, "one value per column"),
        ('x,y\n1,"2\n', DataError, "does not parse"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", DataError, "not UTF-8 text"),
        (b"x,y\n1,\x00\n", DataError, "binary data"),
        (gzip.compress(b"x,y\n1,2\n" * 99, mtime=0)[:-9], DataError, "readable CSV"),
        (b"\x1f\x8b broken", DataError, "readable CSV"),
    ],
)
def test_broken_files(tmp_path: Path, content, error, message) -> None:
    with pytest.raises(error, match=message):
        read_table(_write(tmp_path / "a.csv", content))


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"got '.*none.csv' \(No such file"):
        read_table(str(tmp_path / "none.csv"))
    with pytest.raises(DataError, match=r"Is a directory"):
        read_table(str(tmp_path))
    with pytest.raises(DataError, match=r"readable CSV"):
        read_table("http://example.invalid/data.csv")
    with pytest.raises(DataError, match=r"readable CSV"):
        read_table("a\0b")


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress])
def test_too_large_also_when_compressed(tmp_path: Path, monkeypatch, pack) -> None:
    monkeypatch.setattr(tables, "LARGEST", 1000)
    with pytest.raises(DataError, match=r"at most"):
        read_table(_write(tmp_path / "a.csv", pack(b"x,y\n" + b"1,2\n" * 400)))


@pytest.mark.parametrize(
    ("content", "target", "features", "error", "message"),
    [
        ("a,b\n1,2\n", "c", None, ColumnError, r"among \['a', 'b'\], got 'c'"),
        ("a,b\n1,2\n", "a", ["c"], ColumnError, r"feature columns among .* got 'c'"),
        ("a,b\n1,2\n", "a", ["a"], ColumnError, "other than the target 'a'"),
        ("a,b\n1,2\n", "a", ["b", "b"], ColumnError, "each feature once"),
        ("a\n1\n", "a", None, ColumnError, "besides the target 'a'"),
        ("a,b\n1,u\n", "a", None, DataError, r"column 'b', got 'u'; name the inputs"),
        ("a,b\n1,u\n", "b", None, DataError, r"column 'b', got 'u'; choose another"),
        ("a,b\n1,u\n", "a", ["b"], DataError, r"leave it out of --features"),
        ("a,b\n1,2\n3,u\n", "a", None, DataError, "column 'b', got 'u'"),
        ("a,b\n1,True\n", "a", None, DataError, "column 'b', got 'True'"),
        ("a,b\n1,2\n3,\n", "a", None, DataError, "1 missing or infinite.*row 2"),
        ("a,b\n1,2\n3,inf\n", "a", None, DataError, "'b', got 1 missing or infinite"),
        ("a,b\n", "a", None, DataError, "rows below the header"),
    ],
)
def test_unusable_columns(
    tmp_path: Path, content, target, features, error, message
) -> None:
    table = read_table(_write(tmp_path / "a.csv", content))
    with pytest.raises(error, match=message):
        features_and_target(table, target, features)
