"""Every figure by its short name, from what a user has at hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from plotly import graph_objects as go

import bokern
from bokern import Study, plot, reporting
from bokern.reporting import caption_of

pytestmark = pytest.mark.integration

SPACE = {"x": (0.0, 1.0), "lr": (1e-4, 1e-1, "log"), "kind": bokern.choice("p", "q")}
OF_AN_OPTIMISATION = (
    "calibration",
    "contours",
    "history",
    "importances",
    "leaderboard",
    "parallel_coordinates",
    "regret",
    "slices",
    "structure_probabilities",
)
OF_A_COMPARISON = (
    "calibration",
    "contours",
    "decomposition",
    "importances",
    "leaderboard",
    "slices",
    "structure_posteriors",
    "variance_shares",
)
OF_A_MODEL = ("calibration", "contours", "importances", "slices")
ELSEWHERE = (
    *("caption_of", "modelled", "constraints", "pareto", "search_course"),
    *("hidden_functions", "warp"),
)
"""No figures, or such as need constraints, several objectives, a search, a deep
structure or a warped one."""


def loss(p: dict) -> float:
    bend = (math.log10(p["lr"]) + 2.5) ** 2
    return bend + (p["x"] - 0.3) ** 2 + 0.5 * (p["kind"] == "q")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("plot") / "run.db"
    structures = ["Matern(2.5)", "RBF()"]
    study = Study(place, SPACE, initial=8, structures=structures, seed=1)
    study.run(loss, 11)
    return place


@pytest.fixture(scope="module")
def study(place):
    """Opened again: what was compared is in the log only."""
    return Study(place)


@pytest.fixture(scope="module")
def comparison():
    X = torch.rand(12, 2, dtype=torch.float64, generator=torch.manual_seed(0))
    return bokern.compare(["RBF()", "Matern(1.5)"], X, X[:, 0] ** 2 + X[:, 1], starts=2)


def test_every_name_is_tried_here() -> None:
    tried = {*OF_AN_OPTIMISATION, *OF_A_COMPARISON, *OF_A_MODEL, *ELSEWHERE}
    assert tried == set(plot.__all__)


def test_they_are_the_functions_of_the_reporting_room() -> None:
    short = {getattr(plot, name) for name in plot.__all__}
    long = {getattr(reporting, name) for name in reporting.__all__}
    assert short == long - {reporting.report}


@pytest.mark.parametrize("name", OF_AN_OPTIMISATION)
@pytest.mark.parametrize("kind", ["study", "result"])
def test_of_a_study_and_its_result(study, name: str, kind: str) -> None:
    source = study if kind == "study" else study.result()
    figure = getattr(plot, name)(source)
    assert isinstance(figure, go.Figure)
    assert caption_of(figure).endswith(".")


@pytest.mark.parametrize("name", OF_A_COMPARISON)
def test_of_a_comparison(comparison, name: str) -> None:
    assert caption_of(getattr(plot, name)(comparison)).endswith(".")


@pytest.mark.parametrize("name", OF_A_MODEL)
def test_of_a_model(comparison, name: str) -> None:
    assert caption_of(getattr(plot, name)(comparison.model())).endswith(".")


def test_the_leaderboard_of_a_study_is_that_of_its_log(study) -> None:
    figure = plot.leaderboard(study)
    ranked = study.leaderboard
    assert list(figure.layout.yaxis.ticktext) == list(ranked["structure"])
    drawn = {
        y: x
        for t in figure.data
        if t.type == "bar"
        for x, y in zip(t.x, t.y, strict=True)
    }
    expected = ranked["log_evidence"] - ranked["log_evidence"].max()
    np.testing.assert_allclose([drawn[i] for i in range(len(drawn))], expected)


def test_a_study_without_a_comparison_in_this_process_has_model_figures(
    study, tmp_path
) -> None:
    assert study.comparison is None
    page = bokern.report(study, tmp_path / "r.html")
    text = page.read_text(encoding="utf-8")
    for title in (
        "Parallel coordinates",
        "Importance of parameters",
        "Contours",
        "Posterior",
        "Leave-one-out calibration",
        "Log evidence",
        "Structures by trial",
    ):
        assert f"{title}.</b>" in text
    assert "Could not be drawn" not in text


def test_several_objectives_and_a_named_one(tmp_path) -> None:
    ways = {"loss": "minimize", "speed": "maximize"}
    square = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
    study = Study(
        None,
        square,
        ways,
        outcome_constraints=["memory <= 1.1"],
        structures="RBF()",
        initial=12,
    )
    for _ in range(12):
        trial = study.ask()
        x, y = trial.parameters.values()
        study.tell(trial, {"loss": x * x + y, "speed": x - y, "memory": x + y})
    front = plot.pareto(study)
    (best,) = (t for t in front.data if t.name == "beaten by none")
    assert set(best.customdata) == {trial.id for trial in study.pareto}
    assert "memory ≤ 1.1" in caption_of(plot.constraints(study))
    assert plot.slices(study, outcome="memory").layout.yaxis.title.text == "memory"
    page = bokern.report(study, tmp_path / "r.html")
    text = page.read_text(encoding="utf-8")
    for expected in ("Points that no other beats", "of speed", "History of loss"):
        assert expected in text
    assert "Could not be drawn" not in text
    named = Study(None, square, {"loss": "maximize"}, structures="RBF()", initial=9)
    for _ in range(6):
        trial = named.ask()
        named.tell(trial, trial.parameters["x"])
    assert plot.history(named).layout.yaxis.title.text == "loss"
    bokern.report(named, tmp_path / "s.html")


def test_a_study_of_six_parameters_and_200_trials_is_one_small_page(tmp_path) -> None:
    space = {
        "learning rate": (1e-5, 1e-1, "log"),
        "dropout": (0.0, 0.6),
        "layers": (1, 12),
        "width": [32, 64, 128, 256],
        "activation": bokern.choice("relu", "gelu", "tanh"),
        "decay": (0.0, 1.0),
    }
    study = Study(None, space)
    units = torch.quasirandom.SobolEngine(6, scramble=True, seed=0).draw(200).tolist()
    points = [
        {p.name: p.at(u) for p, u in zip(study.problem.parameters, row, strict=True)}
        for row in units
    ]
    noise = torch.randn(200, generator=torch.manual_seed(0)).tolist()
    rows = [
        {"parameters": p, "values": {"value": math.log10(p["learning rate"]) ** 2 + e}}
        for p, e in zip(points, noise, strict=True)
    ]
    study.add(rows)
    page = bokern.report(study, tmp_path / "r.html")
    assert page.stat().st_size < 6e6


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x>', "%{x}"])
def test_hostile_names_stay_text(tmp_path, name: str) -> None:
    space = {name: (0.0, 1.0), "b": bokern.choice(name, "c", "d")}
    study = Study(None, space, {f"o{name}": "minimize"}, initial=9, structures="RBF()")
    for _ in range(7):
        trial = study.ask()
        study.tell(trial, {f"o{name}": trial.parameters[name]})
    study.fail(study.ask(), name)
    text = bokern.report(study, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Could not be drawn" not in text
    if "<" in name:
        assert name not in text
        assert name not in study._repr_html_()
