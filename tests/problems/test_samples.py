from __future__ import annotations

import pytest
import torch

from bokern.errors import DataError
from bokern.problems import stationary_sample, swap_sample, warped_sample
from bokern.problems.samples import (
    LENGTHSCALE_1D,
    LENGTHSCALE_2D,
    NOISE_1D,
    NOISE_2D,
)

SAMPLES = {
    "stationary": stationary_sample,
    "warped": warped_sample,
    "swap": swap_sample,
}


def _matern(x1: torch.Tensor, x2: torch.Tensor, lengthscale: float) -> torch.Tensor:
    r = 5**0.5 * torch.cdist(x1, x2) / lengthscale
    return (1 + r + r**2 / 3) * torch.exp(-r)


def _squared_exponential(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    return torch.exp(-((torch.cdist(x1, x2) / LENGTHSCALE_2D) ** 2) / 2)


def _mean_square(f: torch.Tensor, K: torch.Tensor) -> float:
    """Mean of z² where f = L z, 1 in expectation if f was drawn from K."""
    L = torch.linalg.cholesky(K + 1e-9 * torch.eye(len(K)))
    z = torch.linalg.solve_triangular(L, f.unsqueeze(-1), upper=False)
    return z.square().mean().item()


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_seed_is_a_data_set(sample):
    first, same, other = sample(20, 0), sample(20, 0), sample(20, 1)
    assert first.y.equal(same.y)
    assert not torch.equal(first.y, other.y)
    assert first.X.shape == (20, len(first.bounds))
    assert 0 <= first.X.min() <= first.X.max() <= 1


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_an_empty_sample_is_refused(sample):
    with pytest.raises(DataError, match="n >= 1"):
        sample(0, 0)


@pytest.mark.statistical
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_noise_has_its_size(sample):
    noise = torch.cat([s.y - s.f for s in (sample(40, i) for i in range(25))])
    expected = NOISE_2D if sample is swap_sample else NOISE_1D
    # 1000 draws: the standard deviation is known to 2.2 %, four of them here.
    assert noise.std().item() == pytest.approx(expected, rel=0.09)


@pytest.mark.statistical
def test_functions_come_from_the_stated_covariances():
    # 30 sets of 12: the mean of 360 squares has a standard deviation of .075.
    def average(values):
        return sum(values) / len(values)

    sets = [stationary_sample(12, i) for i in range(30)]
    plain = [_mean_square(s.f, _matern(s.X, s.X, LENGTHSCALE_1D)) for s in sets]
    assert average(plain) == pytest.approx(1.0, abs=0.3)

    sets = [warped_sample(12, i) for i in range(30)]
    warps = [1 - (1 - s.X**3) ** 0.4 for s in sets]
    warped = [
        _mean_square(s.f, _matern(w, w, LENGTHSCALE_1D))
        for s, w in zip(sets, warps, strict=True)
    ]
    assert average(warped) == pytest.approx(1.0, abs=0.3)

    sets = [swap_sample(12, i) for i in range(30)]
    symmetric = []
    for s in sets:
        K = _squared_exponential(s.X, s.X) + _squared_exponential(s.X, s.X.flip(-1))
        scale = K.diagonal().sqrt()
        symmetric.append(_mean_square(s.f, K / (scale * scale.unsqueeze(-1))))
    assert average(symmetric) == pytest.approx(1.0, abs=0.3)


def test_a_partly_symmetric_function_mixes_both_covariances():
    halves = [swap_sample(12, i, symmetric_share=0.0) for i in range(30)]
    squares = [_mean_square(s.f, _squared_exponential(s.X, s.X)) for s in halves]
    assert sum(squares) / 30 == pytest.approx(1.0, abs=0.3)


def test_blind_designs_keep_their_distance_from_the_diagonal():
    X = swap_sample(200, 0, blind=True).X
    assert (X[:, 0] - X[:, 1]).min() >= 0.3
    assert X[:, 0].max() > 0.95
    assert X[:, 1].min() < 0.05
    full = swap_sample(200, 0).X
    assert (full[:, 0] - full[:, 1]).min() < 0


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_a_share_outside_zero_and_one_is_refused(share):
    with pytest.raises(DataError, match="symmetric_share"):
        swap_sample(10, 0, symmetric_share=share)


@pytest.mark.parametrize("wrong", [{"a": 0.0}, {"b": -1.0}])
def test_concentrations_are_positive(wrong):
    with pytest.raises(DataError, match="concentrations"):
        warped_sample(10, 0, **wrong)
