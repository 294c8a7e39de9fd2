"""Ask, tell and fail; opening again; what is refused."""

from __future__ import annotations

import math
import subprocess
import sys
import time

import numpy as np
import pytest

from bokern import Study, choice
from bokern.ax.occupied import to_avoid
from bokern.errors import (
    BoundsError,
    ColumnError,
    DataError,
    ExhaustedError,
    InputError,
    TrialError,
)
from bokern.optimize import ledger

pytestmark = pytest.mark.integration
SQUARE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
ONE = {"structures": "Matern(2.5)"}


def bowl(p):
    return (p["x"] - 0.3) ** 2 + (p["y"] - 0.6) ** 2


def advance(study, count, value=bowl):
    for _ in range(count):
        trial = study.ask()
        study.tell(trial, value(trial.parameters))
    return study


def points(study):
    return study.trials[["x", "y"]].to_numpy().tolist()


def test_ask_and_tell(tmp_path):
    study = Study(tmp_path / "run.db", SQUARE, initial=3, **ONE)
    trial = study.ask()
    assert (trial.id, trial.status, trial.generator) == (0, "pending", "sobol")
    assert study.pending == [trial]
    assert math.isnan(trial.value)
    done = study.tell(trial, 0.5)
    assert (done.status, done.value, dict(done.sems)) == (
        "completed",
        0.5,
        {"value": None},
    )
    assert study[0] == done
    assert study.pending == []
    advance(study, 4)
    frame = study.trials
    assert list(frame["generator"]) == ["sobol"] * 3 + ["Matern(2.5)"] * 2
    assert list(frame.columns[:4]) == ["trial", "x", "y", "value"]
    assert study.best.value == frame["value"].min()
    assert len(study) == 5
    assert "5 of 5 trials completed" in repr(study)
    assert study.check() == []


def test_opening_it_again_goes_on_as_if_never_closed(tmp_path):
    options = {"structures": ["Matern(2.5)", "RBF()"], "initial": 4, "seed": 3}
    whole = advance(Study(None, SQUARE, **options), 9)
    for _ in range(9):
        advance(Study(tmp_path / "run.db", SQUARE, **options), 1)
    again = Study(tmp_path / "run.db")
    assert points(again) == points(whole)
    assert list(again.trials["structure"]) == list(whole.trials["structure"])
    assert again.ask().parameters == whole.ask().parameters


def test_another_process_goes_on(tmp_path):
    place = tmp_path / "run.db"
    advance(Study(place, SQUARE, initial=3, **ONE), 4)
    script = (
        "import sys, bokern; s = bokern.Study(sys.argv[1]); t = s.ask(); s.tell(t, 0.1)"
    )
    subprocess.run([sys.executable, "-c", script, place], check=True, timeout=120)
    study = Study(place)
    assert len(study) == 5
    assert study[4].value == 0.1


def test_two_handles_see_each_other(tmp_path):
    one = Study(tmp_path / "run.db", SQUARE, initial=4, **ONE)
    two = Study(tmp_path / "run.db")
    for k in range(4):
        a, b = one.ask(), two.ask()
        assert {a.id, b.id} == {2 * k, 2 * k + 1}
        assert a.parameters != b.parameters
        two.tell(a, bowl(a.parameters))
        one.tell(b.id, bowl(b.parameters))
    assert points(one) == points(two)
    assert (one.trials["status"] == "completed").all()


def test_a_candidate_is_chosen_anew_if_another_was_asked_for_meanwhile(
    tmp_path, monkeypatch
):
    one = advance(Study(tmp_path / "run.db", SQUARE, initial=3, **ONE), 3)
    two = Study(tmp_path / "run.db")
    mirror = one._mirrored()
    propose, asked = mirror.propose, []

    def interrupted():
        found = propose()
        if not asked:
            asked.append(two.ask())
        return found

    monkeypatch.setattr(mirror, "propose", interrupted)
    mine = one.ask()
    assert (asked[0].id, mine.id) == (3, 4)
    apart = [abs(mine.parameters[k] - asked[0].parameters[k]) for k in "xy"]
    assert max(apart) > 1e-3


def test_batches_of_pending_trials_differ():
    study = advance(Study(None, SQUARE, initial=3, **ONE), 4)
    trials = study.ask(3)
    assert [t.id for t in trials] == [4, 5, 6]
    found = np.array([[t.parameters["x"], t.parameters["y"]] for t in trials])
    assert np.abs(found[:, None] - found).max(-1)[~np.eye(3, dtype=bool)].min() > 1e-3
    assert len(study.pending) == 3


def test_failures_are_kept_and_their_places_avoided():
    study = Study(None, SQUARE, initial=3, **ONE)
    advance(study, 3)
    trial = study.ask()
    assert study.fail(trial, "burst").reason == "burst"
    assert study.trials["reason"][3] == "burst"
    assert study.ask().parameters != trial.parameters
    other = study.fail({"x": 0.5, "y": 0.5})
    assert (other.status, other.reason) == ("failed", "no reason given")


def test_points_of_ones_own():
    study = Study(None, {**SQUARE, "n": 3}, **ONE)
    mine = study.attach({"x": 0.25, "y": 0.75})
    assert dict(mine.parameters) == {"x": 0.25, "y": 0.75, "n": 3}
    assert (mine.status, mine.generator) == ("pending", "initial")
    told = study.tell({"x": 0.25, "y": 0.75, "n": 3}, 1.0, 0.1)
    assert (told.id, told.value, told.sems["value"]) == (1, 1.0, 0.1)


def test_past_trials():
    study = Study(None, SQUARE, initial=3, **ONE)
    rows = [
        {"parameters": {"x": 0.1 * k, "y": 0.5}, "values": float(k)} for k in range(4)
    ]
    found = study.add([*rows, {"parameters": {"x": 0.9, "y": 0.9}, "reason": "hot"}])
    assert [t.status for t in found] == ["completed"] * 4 + ["failed"]
    assert study.best.value == 0.0
    assert study.ask().generator == "Matern(2.5)"
    with pytest.raises(BoundsError, match=r"row 1: .*breaks") as caught:
        Study(None, SQUARE, constraints=["x + y <= 1"]).add(
            [rows[0], {"parameters": {"x": 0.8, "y": 0.8}, "values": 1.0}]
        )
    assert "row 1" in str(caught.value)


def test_a_finite_space_is_used_up():
    study = Study(None, {"n": [1, 2, 3], "k": choice("a", "b")}, initial=2, **ONE)
    with pytest.raises(InputError, match="the space has 6 points"):
        study.ask(7)
    seen = {tuple(study.ask().parameters.items()) for _ in range(6)}
    assert len(seen) == 6
    with pytest.raises(ExhaustedError, match="none is left"):
        study.ask()
    assert len(study) == 6


def test_a_lease_that_ran_out(tmp_path):
    study = Study(tmp_path / "run.db", SQUARE)
    trial = study.ask(lease=0.05)
    kept = study.ask(lease=100.0)
    time.sleep(0.1)
    again = study.ask(lease=100.0)
    assert (again.id, again.attempt) == (trial.id, 2)
    assert study.ask().id == 2
    # Whoever comes first with a value is believed.
    assert study.tell(trial, 0.5).value == 0.5
    with pytest.raises(TrialError, match="completed already"):
        study.tell(again, 0.6)
    study.renew(kept, 0.01)
    time.sleep(0.05)
    assert study.ask().id == kept.id
    with pytest.raises(InputError, match="seconds > 0"):
        study.ask(lease=-1)


def test_trials_of_a_process_that_is_gone_are_handed_out_at_once(tmp_path, monkeypatch):
    study = Study(tmp_path / "run.db", SQUARE)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    host = ledger.me().rpartition(":")[0]
    monkeypatch.setattr("bokern.optimize.ledger.me", lambda: f"{host}:{gone.pid}")
    trial = study.ask(lease=1000.0)
    monkeypatch.undo()
    assert study.ask(lease=1000.0).id == trial.id
    assert study.ask(lease=1000.0).id == trial.id + 1
    monkeypatch.setattr("bokern.optimize.ledger.me", lambda: f"elsewhere:{gone.pid}")
    other = study.ask(lease=1000.0)
    monkeypatch.undo()
    assert study.ask().id == other.id + 1


def test_maximising():
    study = Study(None, SQUARE, "maximize", initial=3, **ONE)
    advance(study, 6, lambda p: -bowl(p))
    assert study.best.value == study.trials["value"].max()
    # The model's points do better than the initial ones if the sign is right.
    assert study.best.id >= 3


def test_several_objectives_and_a_constraint(tmp_path):
    study = Study(
        tmp_path / "run.db",
        SQUARE,
        {"loss": "minimize", "gain (%)": "maximize"},
        outcome_constraints=["cost >= 0.1"],
        initial=4,
        **ONE,
    )
    for _ in range(7):
        trial = study.ask()
        x, y = trial.parameters["x"], trial.parameters["y"]
        study.tell(trial, {"loss": x**2, "gain (%)": x + y, "cost": y})
    with pytest.raises(TrialError, match="pareto lists"):
        _ = study.best
    best = study.pareto
    assert 0 < len(best) < 7
    for one in study.trials.itertuples():
        if one.cost < 0.1:
            assert one.trial not in {t.id for t in best}
    for t in best:
        assert not any(
            o.values["loss"] < t.values["loss"]
            and o.values["gain (%)"] > t.values["gain (%)"]
            for o in best
        )
    with pytest.raises(DataError, match=r"\['cost'\] are missing"):
        study.tell(study.ask(), {"loss": 1.0, "gain (%)": 0.0})
    again = Study(tmp_path / "run.db")
    assert again.problem == study.problem
    assert [t.id for t in again.pareto] == [t.id for t in best]


def test_failed_and_pending_trials_of_several_outcomes():
    """Ax transforms their points in place, for each outcome."""
    space = {"x": [0.0, 0.25, 0.5, 1.0], "n": [1, 2, 4]}
    study = Study(None, space, outcome_constraints=["cost <= 2"], initial=3, **ONE)
    for number, x in enumerate((0.0, 0.25, 0.5)):
        study.tell({"x": x, "n": 2}, {"value": x, "cost": float(number)})
    study.fail({"x": 1.0, "n": 4}, "burst")
    study.attach({"x": 0.0, "n": 1})
    asked = study.ask()
    assert asked.generator == "Matern(2.5)"
    assert asked.parameters not in [study[i].parameters for i in range(asked.id)]
    first, second = to_avoid(study.client._experiment, None).values()
    assert first == second
    assert first[0] is not second[0]


def test_structures_propose_under_constraints_in_mixed_spaces():
    """Where BoTorch takes turns between kinds it refuses options of the walk."""
    space = {"x": (0.0, 1.0), "n": (1, 20)}
    study = Study(None, space, constraints=["x + 0.1*n <= 1.2"], initial=3, **ONE)
    for x in (0.1, 0.2, 0.3):
        study.tell({"x": x, "n": 2}, x)
    asked = study.ask()
    assert asked.generator == "Matern(2.5)"
    assert asked.record["reasons"] == []


def test_constraints_hold_for_each_candidate():
    space = {"x": (0.0, 1.0), "n": (1, 5), "lr": (1e-4, 1.0, "log")}
    study = Study(None, space, constraints=["x + 0.1*n <= 0.5"], initial=4, **ONE)
    advance(study, 7, lambda p: -p["x"] - 0.1 * p["n"] + math.log10(p["lr"]) ** 2)
    total = study.trials["x"] + 0.1 * study.trials["n"]
    assert total.max() <= 0.5 + 1e-8
    with pytest.raises(BoundsError, match="breaks"):
        study.attach({"x": 0.9, "n": 5, "lr": 0.1})


def test_narrow_constraints_leave_room_for_initial_points():
    study = Study(
        None,
        {f"x{i}": (0.0, 1.0) for i in range(5)},
        constraints=["x0 + x1 + x2 + x3 + x4 <= 0.05"],
        initial=3,
        **ONE,
    )
    found = [study.ask().parameters for _ in range(3)]
    assert all(sum(p.values()) <= 0.05 for p in found)
    assert len({tuple(p.values()) for p in found}) == 3


def test_options_may_change(tmp_path):
    study = Study(tmp_path / "run.db", SQUARE, initial=3, **ONE)
    advance(study, 4)
    again = Study(tmp_path / "run.db", structures="RBF()", acquisition="gp-ucb")
    assert again.options.structures == ("RBF()",)
    advance(again, 1)
    assert again.trials["structure"].tolist()[3:] == ["Matern(2.5)", "RBF()"]
    # The other handle follows.
    assert study.ask().structure == "RBF()"
    assert Study(tmp_path / "run.db").options == again.options
    with pytest.raises(ColumnError, match="gone"):
        Study(tmp_path / "run.db", structures="RBF(columns=['gone'])")
    assert Study(tmp_path / "run.db").options == again.options


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-300, 2.0**-40, 2.0**40, 2.0**300])
def test_scales_of_values_change_nothing(scale, tmp_path):
    plain = advance(Study(None, SQUARE, initial=3, **ONE), 6)
    study = Study(tmp_path / "run.db", SQUARE, initial=3, **ONE)
    advance(study, 6, lambda p: scale * bowl(p))
    assert np.allclose(points(study), points(plain), atol=1e-3)
    again = Study(tmp_path / "run.db").ask().parameters
    assert again == pytest.approx(plain.ask().parameters, abs=1e-3)


def test_scales_of_constrained_outcomes():
    study = Study(None, SQUARE, outcome_constraints=["cost >= 5e-13"], initial=4, **ONE)
    for _ in range(8):
        trial = study.ask()
        x, y = trial.parameters["x"], trial.parameters["y"]
        study.tell(trial, {"value": x + y, "cost": 1e-12 * x})
    assert (study.trials["cost"][5:] > 4e-13).all()
    assert study.best.values["cost"] >= 5e-13


@pytest.mark.parametrize(
    ("scale", "limit"),
    [(2.0**-900, None), (2.0**300, None), (2.0**-30, f"x + y <= {-(2.0**-32):.40f}")],
)
def test_scales_of_parameters_change_nothing(scale, limit):
    def space(scale):
        return {"x": (0.0, scale), "y": (-scale, scale)}

    def value(scale):
        return lambda p: (p["x"] / scale - 0.3) ** 2 + (p["y"] / scale + 0.3) ** 2

    study = Study(None, space(scale), constraints=limit, initial=3, **ONE)
    advance(study, 5, value(scale))
    found = np.array(points(study)) / scale
    assert np.abs(found).max() <= 1.0
    if limit is None:
        plain = advance(Study(None, space(1.0), initial=3, **ONE), 5, value(1.0))
        # Optimisers of acquisitions end where rounding takes them.
        assert np.allclose(found, points(plain), atol=0.05)
    else:
        assert found.sum(-1).max() <= -0.25 + 1e-8


def test_narrow_ranges_on_a_log_scale():
    space = {"rate": (1e-12, 1e-7, "log"), "x": (0.0, 1.0)}
    study = Study(None, space, initial=3, **ONE)
    advance(study, 5, lambda p: math.log10(p["rate"]) + p["x"])
    assert study.trials["rate"].between(1e-12, 1e-7).all()


def test_a_notebook_shows_where_it_stands():
    study = Study(None, SQUARE, initial=3, **ONE)
    assert study._repr_html_().startswith("<p>Study: 0 of 0 trials completed</p><table")
    study.tell({"x": 0.5, "y": 0.5}, 0.25)
    trial = study.ask()
    shown = study._repr_html_()
    assert "Study: 1 of 2 trials completed<br>best 0.25" in shown
    assert shown.count("<tr") == 3
    assert "pending" in shown
    study.fail(trial, "<b>no</b>")
    assert "<b>no" not in study._repr_html_()
