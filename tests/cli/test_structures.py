from __future__ import annotations

import json

from bokern.structures import catalogue, parse


def test_each_structure_has_a_line_that_starts_with_text_to_use(bokern) -> None:
    code, out, err = bokern("structures")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == len(catalogue())
    for line, entry in zip(lines, catalogue(), strict=True):
        assert line.startswith(entry.text)
        assert entry.family in line
        assert line.endswith(entry.summary)
        parse(entry.text)


def test_as_json(bokern) -> None:
    code, out, _ = bokern("structures", "--json")
    assert code == 0
    assert [row["text"] for row in json.loads(out)] == [e.text for e in catalogue()]


def test_needs_no_ax_and_no_plotting(process) -> None:
    code = (
        "import sys\n"
        "from bokern.cli import main\n"
        "assert main(['structures']) == 0\n"
        "print(sorted({'ax', 'plotly', 'pandas'} & set(sys.modules)), file=sys.stderr)"
    )
    done = process("-c", code)
    assert (done.returncode, done.stderr) == (0, "[]\n")
