"""A time limit holds wherever an objective is evaluated."""

import time

import pytest
import torch

import bokern
from bokern.errors import TimeLimitError
from bokern.evidence import laplace, leave_one_out, run_smc
from bokern.fitting import check_time, scout, time_limit
from bokern.fitting.scout import _thinned


@pytest.fixture(scope="module")
def fitted():
    X = torch.rand(
        12, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    return bokern.fit("RBF()", X, X.sin().sum(-1), starts=1)


@pytest.mark.parametrize(
    "work",
    [
        lambda model: model.fit(),
        lambda model: scout(model.log_posterior()),
        laplace,
        leave_one_out,
        lambda model: run_smc(model, particles=32),
    ],
)
def test_work_ends_when_the_time_is_up(fitted, work):
    with (
        time_limit(1e-9),
        pytest.raises(TimeLimitError, match="longer than the 1e-09 s"),
    ):
        work(fitted)
    with time_limit(60.0):
        laplace(fitted)
    with time_limit(None):
        laplace(fitted)


def test_a_limit_ends_with_its_block():
    with time_limit(1e-9):
        time.sleep(1e-3)
        with time_limit(60.0):
            check_time()
        with pytest.raises(TimeLimitError):
            check_time()
    check_time()


def test_the_priors_centre_is_always_among_the_draws():
    draws = torch.arange(512.0).unsqueeze(-1)
    for by in (1, 2, 3, 4):
        few = _thinned(draws, by)
        assert few[-1] == 511.0
        assert len(few) in (512 // by, 512 // by + 1)
