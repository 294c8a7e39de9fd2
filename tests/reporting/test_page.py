from __future__ import annotations

import base64
import hashlib
import json
import os
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bokern.errors import FitError, InputError, StorageError
from bokern.reporting import report
from bokern.reporting.theme import label
from bokern.selection.attempt import Attempt
from tests.reporting.fakes import (
    HOSTILE,
    FakeComparison,
    FakeOptimization,
    make_comparison,
    make_history,
    make_optimization,
    make_trace,
)


class _Page(HTMLParser):
    """Counts tags and keeps the text of scripts and of everything else."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.scripts: list[str] = []
        self.figures: list[dict] = []
        self.visible: list[str] = []
        self._inside: str | None = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag in ("script", "style"):
            kind = dict(attrs).get("type", tag)
            self._inside = kind or tag

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self._inside = None

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside == "application/json":
            self.figures.append(json.loads(data))
        elif self._inside is None:
            self.visible.append(data)


def _page(path: Path) -> _Page:
    return _Page(path.read_text(encoding="utf-8"))


def test_one_offline_file_with_plotly_once(
    comparison: FakeComparison, optimization: FakeOptimization, tmp_path: Path
) -> None:
    optimization.comparison = make_comparison(2)
    path = report(comparison, optimization, path=tmp_path / "r.html")
    assert path.stat().st_size < 6e6
    page = _page(path)
    text = path.read_text(encoding="utf-8")
    assert text.count("plotly.js v") == 1
    assert len(page.figures) == 12
    loaded = [name for name, _ in page.attributes if name in ("src", "href")]
    assert loaded == []
    assert os.listdir(tmp_path) == ["r.html"]


def test_hidden_functions_are_drawn_where_there_are_any(tmp_path: Path) -> None:
    found = make_comparison(1, structure="ConditionalDeep(hyperdata=3)")
    found.model = partial(found.model, "ConditionalDeep(hyperdata=3)")  # type: ignore[method-assign]
    text = report(found, path=tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Hidden functions" in text
    text = report(make_comparison(1), path=tmp_path / "r.html").read_text()
    assert "Hidden functions" not in text


def test_only_its_own_two_scripts_may_run(
    comparison: FakeComparison, tmp_path: Path
) -> None:
    page = _page(report(comparison, path=tmp_path / "r.html"))
    (policy,) = [
        value for _, value in page.attributes if (value or "").startswith("default-src")
    ]
    assert len(page.scripts) == 2
    for script in page.scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    script_policy = policy.split("script-src")[1].split(";")[0]
    assert "unsafe" not in script_policy


def _named(name: str, path: Path) -> _Page:
    """A page on which every text that a user can choose is the name."""
    comparison = make_comparison(
        2,
        column_names=(name, f"b{name}"),
        target_name=name,
        statement=name,
        notes=(name,),
        failures=((name, name),),
    )
    comparison.table.loc[1, ["structure", "family", "flags"]] = name
    comparison.priors.loc[0, ["structure", "hyperparameter", "prior"]] = name
    comparison.trace = (Attempt(name, name, name, 1, -1.0, name, 1, 0.1),)
    result = make_optimization(comparison=comparison, best_parameters={name: 1.0})
    result.structure_history = make_history().assign(structure=name, metric=name)
    result.trials["generator"] = name
    result.trials[name] = name
    return _page(report(comparison, result, path=path, title=name))


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    page = _named(HOSTILE, tmp_path / "hostile.html")
    harmless = _named("two words", tmp_path / "harmless.html")
    assert page.tags == harmless.tags
    assert [name for name, _ in page.attributes] == [
        name for name, _ in harmless.attributes
    ]
    assert page.scripts == harmless.scripts
    assert "alert(1)" in "".join(page.visible)
    for figure in page.figures:
        del figure["layout"]["meta"]  # the caption, which plotly does not render
        drawn = json.dumps(figure)
        assert "<script" not in drawn
        assert "<a " not in drawn


def test_labels_are_escaped_and_cut() -> None:
    assert label("<a>\n& b") == "&lt;a&gt; &amp; b"
    assert label("x" * 100) == "x" * 41 + "…"


def test_says_what_was_found_and_from_what(
    comparison: FakeComparison, optimization: FakeOptimization, tmp_path: Path
) -> None:
    page = _page(report(comparison, optimization, path=tmp_path / "r.html"))
    text = " ".join(" ".join(page.visible).split())
    for expected in (
        comparison.statement,
        "−22.30 ± 0.20",
        "a single start found the best optimum",
        "no start led to a fit",
        "LogNormal(1.41, 1.73)",
        "9f9f9f9f9f9f9f9f",
        "bounds taken from the range of the data",
        "30 of passengers",
        "gpytorch",
        "The smallest value seen in 8 trials is 0.02, 0.02 from the known optimum 0.",
        "sobol (4), RBF() (2), Matern(2.5) (2)",
    ):
        assert expected in text


def test_no_flags_is_said(comparison: FakeComparison, tmp_path: Path) -> None:
    comparison.table["flags"] = ""
    page = _page(report(comparison, path=tmp_path / "r.html"))
    assert "No result carries a flag" in " ".join(page.visible)


def test_a_figure_that_fails_leaves_its_reason(
    comparison: FakeComparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: FakeComparison, structure: str | None = None) -> None:
        raise FitError("no start led to a usable fit")

    monkeypatch.setattr(FakeComparison, "model", broken)
    page = _page(report(comparison, path=tmp_path / "r.html"))
    assert len(page.figures) == 1
    text = " ".join(page.visible)
    assert text.count("Could not be drawn: no start led to a usable fit") == 2
    assert text.count("could not be taken apart: no start led to a usable fit") == 1


def test_says_what_was_tried_and_what_was_believed(
    tmp_path: Path, optimization: FakeOptimization
) -> None:
    optimization.structure_history = make_history()
    comparison = make_comparison(1, trace=make_trace())
    page = _page(report(comparison, optimization, path=tmp_path / "r.html"))
    assert len(page.figures) == 11
    text = " ".join(" ".join(page.visible).split())
    for expected in (
        "What the evidence says",
        "passengers is the sum of 2 independent parts and noise.",
        "The closest rival is RBF(), 12.3 nats behind (standard error 0.2)",
        "What was tried",
        "All structures that were tried (5)",
        "add Linear()",
        "Structures by trial",
    ):
        assert expected in text


def test_all_trials_failed(tmp_path: Path) -> None:
    result = make_optimization(best_value=float("nan"), best_parameters={})
    result.trials["status"] = "failed"
    page = _page(report(result, path=tmp_path / "r.html"))
    assert "None of the 8 trials succeeded." in " ".join(page.visible)


def test_refuses_nothing_and_other_things(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"at least one result, got none"):
        report(path=tmp_path / "r.html")
    with pytest.raises(InputError, match=r"at least one result, got none"):
        report(tmp_path / "r.html")
    with pytest.raises(InputError, match=r"got str; .* the path last"):
        report("RBF()", path=tmp_path / "r.html")
    assert os.listdir(tmp_path) == []


def test_the_path_may_come_last(optimization: FakeOptimization, tmp_path: Path) -> None:
    assert report(optimization, str(tmp_path / "r.html")) == tmp_path / "r.html"
    assert report(optimization, tmp_path / "s.html") == tmp_path / "s.html"


def test_by_default_it_is_written_here(
    optimization: FakeOptimization, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert report(optimization) == tmp_path / "report.html"


def test_a_page_that_cannot_be_written_leaves_the_old_one(
    optimization: FakeOptimization, tmp_path: Path
) -> None:
    with pytest.raises(StorageError, match=r"existing folder"):
        report(optimization, path=tmp_path / "missing" / "r.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError, match=r"folder"):
        report(optimization, path=tmp_path / "folder")
    assert os.listdir(tmp_path) == ["folder"]


def test_of_very_many_trials_the_last_are_listed(
    optimization: FakeOptimization, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bokern.reporting.optimization_section.MOST_TRIALS", 3)
    page = _page(report(optimization, path=tmp_path / "r.html"))
    text = " ".join(" ".join(page.visible).split())
    assert "All 8 trials" in text
    assert "The first 5 are left out." in text
    assert page.tags.count("tr") == 1 + 3
