from __future__ import annotations

import re

import pytest

from benchmarks.__main__ import main


@pytest.mark.integration
def test_costs_are_listed_and_a_fit_is_described(capsys):
    options = ["--structures", "Matern(0.5)", "--sizes", "20,50", "--dense-up-to", "45"]
    assert main(["kalman", *options, "--fit", "30"]) == 0
    title, _, small, large, fit = capsys.readouterr().out.splitlines()
    assert title.startswith("Matern(0.5): value and gradient")
    assert re.fullmatch(r" +20( +\d+\.\d+){6}", small)
    assert re.fullmatch(r" +50 +- +\d\.\d+ +- +- +\d\.\d+ +-", large)
    assert re.match(r"Matern\(0\.5\), n = 30: fit .* of 8 starts at the optimum", fit)
