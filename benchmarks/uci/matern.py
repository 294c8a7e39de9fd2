"""The covariance that sparse peers share."""

from __future__ import annotations

from gpytorch.kernels import MaternKernel, ScaleKernel


def matern(dim: int) -> ScaleKernel:
    """Matérn-3/2 with a lengthscale a column, begun at √d sds of the inputs.

    Distances of standardised inputs grow as √d, and a covariance that begins shorter
    than them all is white noise, which no gradient leads away from.
    """
    kernel = MaternKernel(nu=1.5, ard_num_dims=dim)
    kernel.lengthscale = dim**0.5
    return ScaleKernel(kernel)
