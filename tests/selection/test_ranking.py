from __future__ import annotations

import io
from dataclasses import replace

import pytest
import torch

import bokern
from bokern.build import set_theta, unfitted
from bokern.errors import (
    BoundsError,
    ColumnError,
    DataError,
    FitError,
    FitWarning,
    InputError,
    StructureError,
)
from bokern.evidence import laplace
from bokern.inputs import read_observations
from bokern.models import StructuredGP
from bokern.selection import compare as compare_module_function
from bokern.selection.candidate import Settings
from bokern.selection.ranking import _mend_nesting, compare_observations
from bokern.structures import parse
from tests.selection.conftest import STRUCTURES


def split(frame):
    return frame[["a", "b"]], frame["loss"]


def test_ranks_by_log_evidence(comparison):
    table = comparison.table
    assert table["log_evidence"].is_monotonic_decreasing
    assert table["gap"].iloc[0] == 0.0
    assert (table["gap"].iloc[1:] < 0.0).all()
    assert comparison.best == parse("Invariant(RBF(), swap('a', 'b'))")
    assert set(table["structure"]) == {str(parse(s)) for s in STRUCTURES}
    assert comparison.failures == ()
    assert comparison.notes == ()


def test_each_evidence_is_that_of_the_structure_alone(comparison, frame, options):
    for structure, evidence in zip(
        comparison.structures[:2], comparison.evidences, strict=False
    ):
        alone = bokern.fit(structure, *split(frame), **options)
        assert laplace(alone).log_evidence == pytest.approx(
            evidence.log_evidence, abs=1e-6
        )


def test_the_order_of_the_list_does_not_matter(comparison, frame, options):
    again = bokern.compare(STRUCTURES[::-1], *split(frame), **options)
    assert again.structures == comparison.structures
    assert again.table["log_evidence"].tolist() == pytest.approx(
        comparison.table["log_evidence"].tolist(), abs=1e-9
    )
    assert again.probabilities == pytest.approx(comparison.probabilities, abs=1e-9)


def test_equal_structures_are_fitted_once(frame, options):
    same = ("RBF(columns=['a'])", parse("RBF(columns=['a'])"), "RBF(columns=[0])")
    found = bokern.compare(same, *split(frame), **options)
    assert found.structures == (parse(same[0]),)
    assert found.probabilities == (1.0,)
    assert found.statement == "Only RBF(columns=['a']) was compared."


def test_frames_arrays_and_tensors_agree(frame, options):
    X, y = split(frame)
    names = ("RBF()", "Linear()")
    plain = options | {"bounds": [(0, 4), (0, 4)]}
    by_frame = bokern.compare(names, X, y, **options)
    by_array = bokern.compare(names, X.to_numpy(), y.to_numpy(), **plain)
    tensors = (torch.tensor(v.to_numpy()) for v in (X, y))
    by_tensor = bokern.compare(names, *tensors, **plain)
    assert by_frame.evidences[0] - by_array.evidences[0] == pytest.approx(0, abs=1e-9)
    assert by_frame.evidences[0] - by_tensor.evidences[0] == pytest.approx(0, abs=1e-9)
    assert by_frame.column_names == ("a", "b")
    assert by_frame.target_name == "loss"
    assert by_array.column_names == ("x0", "x1")


def test_settings_reach_the_fits(frame, options):
    zero = bokern.compare(
        ["RBF()"], *split(frame), **options, mean="zero", standardize=False, noise=25.0
    )
    (evidence,) = zero.evidences
    assert evidence.n_hyperparameters == 3
    assert evidence.log_jacobian == 0.0
    assert evidence.likelihood.startswith("gaussian, known noise ")


# -- failures ------------------------------------


def test_a_structure_that_fails_is_left_out(frame, options, monkeypatch):
    fit = StructuredGP.fit

    def failing(self, warm=None):
        if "Linear" in str(self.structure):
            raise FitError("no start is usable")
        return fit(self, warm)

    monkeypatch.setattr(StructuredGP, "fit", failing)
    with pytest.warns(FitWarning, match=r"Linear\(\) could not be fitted"):
        found = bokern.compare(["RBF()", "Linear()"], *split(frame), **options)
    assert found.structures == (parse("RBF()"),)
    assert found.failures == (("Linear()", "FitError: no start is usable"),)
    assert "left out: Linear() (FitError: no start is usable)" in str(found)
    with (
        pytest.warns(FitWarning),
        pytest.raises(FitError, match=r"none of the structures.*Linear\(\): FitError"),
    ):
        bokern.compare(["Linear()"], *split(frame), **options)


@pytest.mark.parametrize(
    ("structures", "change", "error", "message"),
    [
        ([], {}, InputError, "at least one structure, got an empty list"),
        ("RBF()", {}, StructureError, r"write \['RBF\(\)'\]"),
        (parse("RBF()"), {}, StructureError, r"list of structures, got one"),
        (3, {}, StructureError, "list of structures, got 3"),
        (["RBF()", 3], {}, StructureError, "got 3 of type int"),
        (["RBF()", "Nope()"], {}, StructureError, "'Nope'"),
        (["RBF()", "RBF(columns=['c'])"], {}, ColumnError, r"'c' does not exist"),
        (
            ["RBF()", "Invariant(RBF(), swap('a', 'b'))"],
            {"bounds": {"a": (0, 4), "b": (0, 5)}},
            BoundsError,
            r"'b' with bounds \[0, 5\]",
        ),
        (["RBF()"], {"starts": -1}, InputError, "starts .* got -1"),
        (["RBF()"], {"mean": "none"}, InputError, "got 'none'"),
    ],
)
def test_bad_lists_and_settings(frame, options, structures, change, error, message):
    with pytest.raises(error, match=message):
        bokern.compare(structures, *split(frame), **(options | change))


def test_bad_data_are_refused_before_any_fit(frame, options, monkeypatch):
    monkeypatch.setattr(StructuredGP, "fit", None)
    X, y = split(frame)
    with pytest.raises(DataError, match="'loss' is constant"):
        bokern.compare(["RBF()"], X, 0.0 * y, **options)


# -- nesting ------------------------------------


@pytest.mark.parametrize("child", ["Kumaraswamy(RBF())", "Linear() + RBF()"])
def test_a_child_below_its_parent_is_fitted_again(frame, options, child):
    data = read_observations(*split(frame), options["bounds"])
    own = Settings(starts=2).options()
    fitted = {}
    for text in ("RBF()", child):
        model = unfitted(text, data, **own).fit()
        fitted[parse(text)] = model, laplace(model)
    good = fitted[parse(child)]
    objective = good[0].log_posterior()
    # A fit that stopped where all is noise.
    theta = objective.get()
    for c in objective.coordinates:
        if "noise" in c.name:
            theta[c.span] = 0.0
    bad = set_theta(unfitted(child, data, **own), theta.tolist())
    bad.fit_results = (
        replace(
            good[0].fit_result,
            theta=tuple(theta.tolist()),
            objective=objective(theta).item(),
            log_likelihood=objective.log_likelihood(theta).item(),
        ),
    )
    fitted[parse(child)] = bad, laplace(bad)
    assert fitted[parse(child)][1].log_evidence < good[1].log_evidence - 1.0
    _mend_nesting(fitted)
    mended = fitted[parse(child)][1]
    assert mended.log_evidence == pytest.approx(good[1].log_evidence, abs=1e-6)
    assert "NESTED_VIOLATION" not in mended.flags


def test_what_cannot_be_mended_is_flagged(frame, options, monkeypatch):
    fit = StructuredGP.fit

    def stuck(self, warm=None):
        fit(self)
        if "Kumaraswamy" in str(self.structure):
            objective = self.log_posterior()
            theta = objective.get() + 2.0
            objective.set(theta)
            result = replace(
                self.fit_results[0],
                objective=objective(theta).item(),
                log_likelihood=objective.log_likelihood(theta).item(),
            )
            self.fit_results = (result,)
        return self

    monkeypatch.setattr(StructuredGP, "fit", stuck)
    data = read_observations(*split(frame), options["bounds"])
    found = compare_observations(
        ["RBF()", "Kumaraswamy(RBF())"], data, Settings(starts=2)
    )
    flags = dict(zip(found.table["structure"], found.table["flags"], strict=True))
    assert "NESTED_VIOLATION" in flags["Kumaraswamy(RBF())"].split()
    assert "NESTED_VIOLATION" not in flags["RBF()"]


# -- progress ------------------------------------


@pytest.mark.parametrize(
    ("terminal", "progress", "shown"),
    [
        (False, None, False),
        (True, None, True),
        (True, False, False),
        (False, True, True),
    ],
)
def test_progress_on_a_terminal_only(
    frame, options, monkeypatch, terminal, progress, shown
):
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    stream = Stream()
    monkeypatch.setattr("sys.stderr", stream)
    compare_module_function(["Linear()"], *split(frame), **options, progress=progress)
    assert ("comparing" in stream.getvalue()) is shown
    assert ("<" in stream.getvalue()) is shown  # the time that is left
