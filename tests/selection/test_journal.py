import json

import pytest

from bokern.errors import StorageError
from bokern.selection.journal import Journal

HEADER = {"kind": "test", "data": "abc", "seeds": [1, 2]}


def written(path, count=3):
    with Journal(path, HEADER) as journal:
        for i in range(count):
            journal.add(f"job{i}", {"value": i / 3, "text": "é\n"})
    return path.read_bytes()


def test_entries_come_back_to_the_last_bit(tmp_path):
    path = tmp_path / "j.jsonl"
    written(path)
    with Journal(path, HEADER) as journal:
        assert list(journal.entries) == ["job0", "job1", "job2"]
        assert journal.entries["job1"]["value"] == 1 / 3
        assert journal.entries["job2"]["text"] == "é\n"


def test_what_is_added_looks_as_it_will_when_read(tmp_path):
    with Journal(tmp_path / "j", HEADER) as journal:
        added = journal.add("a", {"pair": (1, 2)})
    with Journal(tmp_path / "j", HEADER) as journal:
        assert journal.entries["a"] == added == {"key": "a", "pair": [1, 2]}


def test_appending_goes_on_after_reopening(tmp_path):
    path = tmp_path / "j"
    written(path, 1)
    with Journal(path, HEADER) as journal:
        journal.add("later", {"value": 5})
    with Journal(path, HEADER) as journal:
        assert set(journal.entries) == {"job0", "later"}


def test_a_line_cut_anywhere_is_dropped_and_the_rest_kept(tmp_path):
    path = tmp_path / "j"
    content = written(path)
    ends = [i + 1 for i, byte in enumerate(content) if byte == 10]
    for cut in range(1, len(content), 7):
        path.write_bytes(content[:cut])
        whole = max(0, sum(end <= cut for end in ends) - 1)
        with Journal(path, HEADER) as journal:
            assert len(journal.entries) == whole
            journal.add("again", {"value": 1})
        with Journal(path, HEADER) as journal:
            assert "again" in journal.entries


def test_every_flipped_bit_is_noticed(tmp_path):
    path = tmp_path / "j"
    content = written(path, 2)
    whole = len(content.rstrip(b"\n"))
    unnoticed = 0
    for position in range(0, whole, 3):
        for bit in (0, 4):
            damaged = bytearray(content)
            damaged[position] ^= 1 << bit
            path.write_bytes(bytes(damaged))
            try:
                Journal(path, HEADER).close()
            except StorageError:
                continue
            # A flip into or out of a line break may leave a cut last line.
            with Journal(path, HEADER) as journal:
                unnoticed += len(journal.entries) == 2
    assert unnoticed == 0


def test_lines_swapped_or_removed_are_noticed(tmp_path):
    path = tmp_path / "j"
    lines = written(path).splitlines(keepends=True)
    for damaged in (
        [lines[0], lines[2], lines[1], lines[3]],
        [lines[0], lines[2], lines[3]],
        [lines[1], lines[2]],
    ):
        path.write_bytes(b"".join(damaged))
        with pytest.raises(StorageError, match="line"):
            Journal(path, HEADER)


def test_an_edited_value_is_noticed_and_the_line_named(tmp_path):
    path = tmp_path / "j"
    lines = written(path).splitlines(keepends=True)
    document = json.loads(lines[2])
    document["entry"]["value"] = 99
    lines[2] = json.dumps(document).encode() + b"\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(StorageError, match=r"line 3 .* first 2 lines"):
        Journal(path, HEADER)


def test_another_header_is_refused_with_the_difference(tmp_path):
    path = tmp_path / "j"
    written(path)
    with pytest.raises(StorageError, match="data: abc there, xyz here"):
        Journal(path, HEADER | {"data": "xyz"})


def test_one_search_at_a_time(tmp_path):
    path = tmp_path / "j"
    with Journal(path, HEADER), pytest.raises(StorageError, match="in use"):
        Journal(path, HEADER)
    Journal(path, HEADER).close()


@pytest.mark.parametrize("text", ["{}", "null", "[1]", "name,age", '{"hash": 1}'])
def test_foreign_files_are_refused(tmp_path, text):
    path = tmp_path / "j"
    path.write_text(text + "\n")
    with pytest.raises(StorageError, match="damaged"):
        Journal(path, HEADER)
    assert path.read_text() == text + "\n"


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(StorageError, match="cannot open"):
        Journal(tmp_path, HEADER)


def test_a_full_disk_loses_nothing_and_is_told(tmp_path, monkeypatch):
    path = tmp_path / "j"
    with Journal(path, HEADER) as journal:
        journal.add("a", {"value": 1})
        before = path.read_bytes()
        real = journal._file

        class Full:
            def __getattr__(self, name):
                return getattr(real, name)

            def write(self, data):
                real.write(data[:10])
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(journal, "_file", Full())
        with pytest.raises(StorageError, match="No space left"):
            journal.add("b", {"value": 2})
        monkeypatch.setattr(journal, "_file", real)
        assert path.read_bytes() == before
        journal.add("c", {"value": 3})
    with Journal(path, HEADER) as journal:
        assert set(journal.entries) == {"a", "c"}


@pytest.mark.parametrize("text", ['{"kind": "bokern.Comparison"}', "a", "a,b,c"])
def test_a_file_of_one_line_without_its_end_is_left_as_it_is(tmp_path, text):
    path = tmp_path / "found.json"
    path.write_text(text)
    with pytest.raises(StorageError, match="no journal of a search"):
        Journal(path, HEADER)
    assert path.read_text() == text
