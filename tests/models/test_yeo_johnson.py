from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from botorch.posteriors import GPyTorchPosterior
from gpytorch.distributions import MultivariateNormal
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bokern.errors import InputError
from bokern.models.yeo_johnson import YeoJohnson
from tests.tolerances import ROUNDING

POWERS = (0.0, 0.3, 1.0, 1.7, 2.0)

STEP = 1e-6
DERIVATIVE = 1e-8
"""A central difference over 1e-6: rounding of 1e-16 over it, twice."""

GAUSS_HERMITE = 1e-4
"""64 nodes on a function whose third derivative jumps once."""


def outcomes() -> torch.Tensor:
    fine = torch.linspace(-3.0, 3.0, 61, dtype=torch.float64)
    far = torch.tensor([-1e6, -40.0, -0.0, 1e-9, 25.0, 1e5], dtype=torch.float64)
    return torch.cat([fine, far]).unsqueeze(-1)


def posterior_of(mean: torch.Tensor, covariance: torch.Tensor) -> GPyTorchPosterior:
    return GPyTorchPosterior(MultivariateNormal(mean, covariance))


# -- the function ------------------------------------


@pytest.mark.oracle
@pytest.mark.parametrize("power", POWERS)
def test_the_transform_is_scipys(power):
    Y = outcomes()
    found, variance = YeoJohnson(power)(Y)
    expected = stats.yeojohnson(Y.numpy(), power)
    np.testing.assert_allclose(found.numpy(), expected, rtol=ROUNDING)
    assert variance is None


@pytest.mark.oracle
@pytest.mark.parametrize("power", POWERS)
def test_location_and_scale_come_first(power):
    Y = outcomes()
    found, _ = YeoJohnson(power, location=2.0, scale=0.5)(Y)
    expected = stats.yeojohnson((Y.numpy() - 2.0) / 0.5, power)
    np.testing.assert_allclose(found.numpy(), expected, rtol=ROUNDING)


@pytest.mark.oracle
@pytest.mark.parametrize("power", POWERS)
def test_the_slope_is_the_derivative_and_scipys_jacobian(power):
    Y = outcomes()[:61]
    transform = YeoJohnson(power, location=0.3, scale=1.5)
    slope = transform.log_slope(Y).exp()
    rise = transform(Y + STEP)[0] - transform(Y - STEP)[0]
    torch.testing.assert_close(rise / (2.0 * STEP), slope, rtol=DERIVATIVE, atol=0)
    # SciPy's llf is -n/2 log(variance of the transformed) plus the log Jacobian.
    raw = Y.numpy().ravel()
    spread = 0.5 * len(raw) * math.log(stats.yeojohnson(raw, power).var())
    expected = stats.yeojohnson_llf(power, raw) + spread
    found = YeoJohnson(power).log_slope(Y).sum().item()
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.property
@given(
    st.floats(0.0, 2.0),
    st.floats(-1e4, 1e4),
    st.floats(-10.0, 10.0),
    st.floats(0.01, 100.0),
)
def test_there_and_back(power, y, location, scale):
    transform = YeoJohnson(power, location, scale)
    Y = torch.tensor([[y], [y + 1.0]], dtype=torch.float64)
    z, _ = transform(Y)
    assert z[0] < z[1]
    back, _ = transform.untransform(z)
    # Where the slope is small, rounding of z is stretched by its inverse.
    stretch = (z.abs() / transform.log_slope(Y).exp()).clamp_min(abs(location) + scale)
    assert bool(((back - Y).abs() <= 1e-14 * (stretch + Y.abs())).all())


@pytest.mark.property
@pytest.mark.parametrize("power", POWERS)
def test_both_tails_are_mirror_images(power):
    Y = outcomes()
    mirrored = -YeoJohnson(2.0 - power)(-Y)[0]
    torch.testing.assert_close(YeoJohnson(power)(Y)[0], mirrored)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("power", POWERS)
def test_far_out_everything_stays_finite(power, dtype):
    transform = YeoJohnson(power)
    z = torch.tensor([[-1e5], [-800.0], [800.0], [1e5]], dtype=dtype)
    raw, _ = transform.untransform(z)
    assert raw.dtype == dtype
    assert bool(torch.isfinite(raw.square()).all())
    wide = transform.untransform_posterior(
        posterior_of(z.squeeze(-1), 1e4 * torch.eye(4, dtype=dtype))
    )
    assert bool(torch.isfinite(wide.mean).all() & torch.isfinite(wide.variance).all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_outcomes_keep_their_dtype(dtype):
    Y = outcomes().to(dtype)
    transform = YeoJohnson(0.3, 0.5, 2.0)
    assert transform(Y)[0].dtype == transform.log_slope(Y).dtype == dtype


# -- posteriors ------------------------------------


def moments_by_integration(power: float, mean: float, sd: float) -> tuple[float, float]:
    """From the density of the raw outcome, on either side of the location."""
    u = np.concatenate([-np.geomspace(1e9, 1e-9, 400_001), [0.0]])
    u = np.concatenate([u, -u[-2::-1]])
    z = stats.yeojohnson(u, power)
    log_slope = np.where(u >= 0, power - 1.0, 1.0 - power) * np.log1p(np.abs(u))
    density = np.exp(stats.norm(mean, sd).logpdf(z) + log_slope)
    centre = np.trapezoid(density * u, u)
    return centre, np.trapezoid(density * (u - centre) ** 2, u)


@pytest.mark.oracle
@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize(("mean", "sd"), [(0.2, 0.4), (-1.5, 1.2), (1.0, 0.02)])
def test_moments_are_those_of_the_raw_outcome(power, mean, sd):
    transform = YeoJohnson(power, location=-3.0, scale=2.0)
    law = posterior_of(
        torch.tensor([mean], dtype=torch.float64),
        torch.tensor([[sd**2]], dtype=torch.float64),
    )
    raw = transform.untransform_posterior(law)
    centre, variance = moments_by_integration(power, mean, sd)
    spread = 2.0 * math.sqrt(variance)
    assert raw.mean.item() == pytest.approx(
        2.0 * centre - 3.0, abs=GAUSS_HERMITE * spread
    )
    assert raw.variance.item() == pytest.approx(4.0 * variance, rel=GAUSS_HERMITE)


@pytest.mark.parametrize("power", POWERS)
def test_samples_are_the_gaussians_transformed(power):
    transform = YeoJohnson(power, location=1.0, scale=0.5)
    mean = torch.tensor([-0.5, 0.5], dtype=torch.float64)
    covariance = torch.tensor([[0.5, 0.2], [0.2, 0.4]], dtype=torch.float64)
    law = posterior_of(mean, covariance)
    raw = transform.untransform_posterior(law)
    base = torch.randn(7, 2, dtype=torch.float64)
    found = raw.rsample_from_base_samples(torch.Size([7]), base)
    z = law.rsample_from_base_samples(torch.Size([7]), base)
    torch.testing.assert_close(transform(found)[0], z)


def test_moments_have_gradients():
    transform = YeoJohnson(0.4, 1.0, 2.0)
    mean = torch.tensor([-0.7, 0.1, 2.0], dtype=torch.float64, requires_grad=True)
    variance = torch.tensor([0.3, 0.2, 1.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(transform.moments, (mean, variance))
    Y = torch.tensor([[-2.0], [0.5], [7.0]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda y: transform(y)[0], Y)


# -- refusals ------------------------------------


@pytest.mark.parametrize("power", [-0.1, 2.1, math.nan, math.inf])
def test_powers_that_do_not_reach_all_numbers_are_refused(power):
    with pytest.raises(InputError, match="from 0 to 2"):
        YeoJohnson(power)


@pytest.mark.parametrize(
    ("location", "scale"), [(0.0, 0.0), (0.0, -1.0), (math.inf, 1.0), (0.0, math.nan)]
)
def test_units_must_be_usable(location, scale):
    with pytest.raises(InputError, match="scale positive"):
        YeoJohnson(1.0, location, scale)


def test_known_variances_are_refused():
    Y = outcomes()
    with pytest.raises(InputError, match="known variances"):
        YeoJohnson(0.5)(Y, Y.square())
    with pytest.raises(InputError, match="known variances"):
        YeoJohnson(0.5).untransform(Y, Y.square())
