r"""The Matérn process as the solution of a linear stochastic differential equation.

With rate $\lambda = \sqrt{2\nu}/\ell$ and $p = \nu - 1/2$, the state
$(f, f'/\lambda, \dots, f^{(p)}/\lambda^p)$ is a Markov process. It is used in
coordinates in which its stationary law is N(0, I) and its first component is f, so
that over a gap $d$, with $u = \lambda d$,

$$x(t + d) = A(u)\, x(t) + w, \qquad w \sim N(0, Q(u)), \qquad Q = I - A A^T$$

All of A and Q depends on u alone, and a product of processes has the Kronecker product
of their A.

References:
    [StateSpace] sections 2 and 3; MATH section 8
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

SERIES_BELOW = 1.0
"""Up to here the incomplete gamma function is summed as a series: 1 less a sum of
nearly 1 would lose all digits at small gaps."""

SERIES_TERMS = 16
"""Enough for the last to be below rounding at ``SERIES_BELOW``."""


@cache
def _polynomials(order: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Coefficients of A and Q in powers of u.

    The drift of the scaled state is $-I + N$ with a nilpotent N, hence
    $A = e^{-u} \sum_k N^k u^k / k!$; Q is the integral of the square of its response
    to noise, $e^{-2v} \sum_m v^m C_m$, over v from 0 to u.

    Returns:
        ``(p + 1) x s x s`` of A without its decay, ``(2p + 1) x s x s`` of C.
    """
    size = order + 1
    drift = np.diag(np.ones(order), 1)
    drift[-1] = [-math.comb(size, k) for k in range(size)]
    stationary = {
        0: np.eye(1),
        1: np.eye(2),
        2: np.array([[1.0, 0.0, -1 / 3], [0.0, 1 / 3, 0.0], [-1 / 3, 0.0, 1.0]]),
    }[order]
    density = -(drift @ stationary + stationary @ drift.T)[-1, -1]
    root = np.linalg.cholesky(stationary)
    whiten = np.linalg.inv(root)
    nilpotent = drift + np.eye(size)
    powers = [
        np.linalg.matrix_power(nilpotent, k) / math.factorial(k) for k in range(size)
    ]
    transition = np.stack([whiten @ power @ root for power in powers])
    response = [math.sqrt(density) * whiten @ power[:, -1] for power in powers]
    noise = np.zeros((2 * order + 1, size, size))
    for i, a in enumerate(response):
        for j, b in enumerate(response):
            noise[i + j] += np.outer(a, b)
    return transition, noise


def transition(u: Tensor, order: int) -> Tensor:
    """A over scaled gaps ``...``, ``... x s x s``."""
    coefficients = u.new_tensor(_polynomials(order)[0])
    powers = torch.stack([u**k for k in range(order + 1)], -1)
    return _apply(torch.exp(-u).unsqueeze(-1) * powers, coefficients)


def noise(u: Tensor, order: int) -> Tensor:
    """Q over scaled gaps ``...``, ``... x s x s``, of full relative precision."""
    coefficients = u.new_tensor(_polynomials(order)[1])
    return _apply(_moments(u, 2 * order), coefficients)


def noise_column(u: Tensor, order: int) -> Tensor:
    """First column of Q over scaled gaps ``...``, ``... x s``."""
    coefficients = u.new_tensor(_polynomials(order)[1][:, :, 0])
    return _moments(u, 2 * order) @ coefficients


def correlation(u: Tensor, order: int) -> Tensor:
    """Matérn correlation over scaled gaps, elementwise: the first entry of A."""
    decay = torch.exp(-u)
    if order == 0:
        return decay
    if order == 1:
        return (1.0 + u) * decay
    return (1.0 + u + u.square() / 3.0) * decay


def _apply(weights: Tensor, coefficients: Tensor) -> Tensor:
    flat = weights @ coefficients.flatten(1)
    return flat.unflatten(-1, coefficients.shape[1:])


def _moments(u: Tensor, top: int) -> Tensor:
    r"""$\int_0^u e^{-2v} v^m dv$ for m = 0 … top, ``... x (top + 1)``.

    The highest by the incomplete gamma function, the others from it by parts: sums of
    positive terms.
    """
    x = 2.0 * u
    decay = torch.exp(-x)
    value: Tensor = _IncompleteGamma.apply(x, top)
    values = [value]
    for m in range(top - 1, -1, -1):
        value = (value + x ** (m + 1) * decay) / (m + 1)
        values.append(value)
    scaled = [v / 2.0 ** (m + 1) for m, v in enumerate(reversed(values))]
    return torch.stack(scaled, -1)


class _IncompleteGamma(torch.autograd.Function):
    r"""$\int_0^x e^{-v} v^m dv$, whose derivative needs none of its series."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, m: int) -> Tensor:
        ctx.save_for_backward(x)
        ctx.m = m
        if m == 0:
            return -torch.expm1(-x)
        near = x.clamp_max(SERIES_BELOW)
        series = torch.ones_like(near)
        for j in range(SERIES_TERMS, 0, -1):
            series = 1.0 + series * near / (m + 1 + j)
        small = near ** (m + 1) / (m + 1) * series * torch.exp(-near)
        terms = torch.ones_like(x)
        for k in range(m, 0, -1):
            terms = 1.0 + terms * x / k
        large = math.factorial(m) * (1.0 - torch.exp(-x) * terms)
        return torch.where(x < SERIES_BELOW, small, large)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        return grad * torch.exp(-x) * x**ctx.m, None
