"""Deep Gaussian processes with hyperdata, by the joint law of a hidden layer."""

from __future__ import annotations

import math

import numpy as np


def hidden_law(k1, points, places, given, prior_mean):
    """Mean and covariance of a hidden function at points, given its values elsewhere.

    Args:
        k1: Covariance of two points, a function of two arrays.
        points: n x d.
        places: J x d.
        given: J values.
        prior_mean: A function of one point.
    """
    every = np.concatenate([places, points])
    K = np.array([[k1(a, b) for b in every] for a in every])
    count = len(places)
    mean = np.array([prior_mean(x) for x in points])
    if count == 0:
        return mean, K
    known = np.array([prior_mean(z) for z in places])
    gain = np.linalg.solve(K[:count, :count], K[:count, count:]).T
    return mean + gain @ (given - known), K[count:, count:] - gain @ K[:count, count:]


def expected_by_draws(outer, means, covariance, draws, rng):
    """The mean of an outer covariance over hidden functions, n x n.

    Args:
        outer: Of the differences of H hidden values, ``draws x n x n x H``.
        means: n x H.
        covariance: n x n, of each hidden function.
        draws: How many.
        rng: A generator.
    """
    n, width = means.shape
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.clip(values, 0.0, None))
    noise = rng.standard_normal((draws, n, width))
    hidden = means + np.einsum("ij,djh->dih", root, noise)
    return outer(hidden[:, :, None] - hidden[:, None]).mean(0)


def rbf(difference):
    """Squared exponential of lengthscale 1."""
    return np.exp(-0.5 * np.square(difference).sum(-1))


def matern(nu):
    """Matérn of lengthscale 1, ν = 3/2 or 5/2."""

    def k(difference):
        r = np.sqrt(2.0 * nu * np.square(difference).sum(-1))
        return (1.0 + r + (r**2 / 3.0 if nu == 2.5 else 0.0)) * np.exp(-r)

    return k


def rational_quadratic(alpha):
    """Of lengthscale 1."""
    return lambda difference: (
        (1.0 + np.square(difference).sum(-1) / (2.0 * alpha)) ** -alpha
    )


def cosine(difference):
    """Of frequency 1/2π."""
    return np.cos(difference[..., 0])


def squared_cosine(difference):
    """Of half the difference."""
    return np.cos(0.5 * difference[..., 0]) ** 2


def periodic(lengthscale):
    """Of period 1, MacKay's."""
    return lambda difference: np.exp(
        -2.0 * np.sin(math.pi * difference[..., 0]) ** 2 / lengthscale**2
    )


def spectral_mixture(weights, bandwidths, frequencies):
    """Of weights that are divided by their sum; bandwidths in radians."""

    def k(difference):
        d = difference[..., 0]
        total = 0.0
        for w, b, m in zip(weights, bandwidths, frequencies, strict=True):
            total = total + w * np.exp(-0.5 * (b * d) ** 2) * np.cos(
                2.0 * math.pi * m * d
            )
        return total / sum(weights)

    return k


def three_layers(
    x: np.ndarray,
    first: tuple[np.ndarray, np.ndarray],
    second: tuple[np.ndarray, np.ndarray],
    scales: tuple[float, float],
    lengthscale: float,
    slope: float,
    draws: int,
    seed: int = 0,
) -> tuple[np.ndarray, float]:
    """Second moment of an outer squared exponential of two hidden layers of one width.

    Draws the first layer given its hyperdata, weighs each draw by the density of the
    second layer's hyperdata given it, and takes what is left in closed form.

    Args:
        x: ``n x 1``.
        first: Places ``J x 1``, and what the first layer exceeds its mean by there, in
            units of its scale.
        second: The same of the second layer.
        scales: Of the layers.
        lengthscale: Of the first layer's squared exponential.
        slope: Both layers have the mean ``slope * x``.
        draws: How many.
        seed: Of the draws.

    Returns:
        ``n x n``, and how many draws count.
    """
    rng = np.random.default_rng(seed)
    (Z1, e1), (Z2, e2) = first, second
    both, J = np.concatenate([Z2, x]), len(Z2)

    def covariance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return scales[0] ** 2 * rbf_1d((a - b.T) / lengthscale)

    jitter = 1e-8
    given = covariance(Z1, Z1) + jitter * scales[0] ** 2 * np.eye(len(Z1))
    gain = np.linalg.solve(given, covariance(Z1, both)).T
    mean = slope * both[:, 0] + gain @ (scales[0] * e1)
    left = covariance(both, both) - gain @ covariance(Z1, both)
    values, vectors = np.linalg.eigh(left)
    root = vectors * np.sqrt(np.clip(values, 0.0, None))
    f = mean + rng.standard_normal((draws, len(both))) @ root.T

    K = scales[1] ** 2 * rbf_1d(f[:, :, None] - f[:, None, :])
    among = K[:, :J, :J] + jitter * scales[1] ** 2 * np.eye(J)
    across, u = K[:, :J, J:], scales[1] * e2
    solved = np.linalg.solve(among, np.broadcast_to(u, (draws, J))[..., None])[..., 0]
    log_weight = -0.5 * (solved @ u + np.linalg.slogdet(among)[1])
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = slope * x[:, 0] + np.einsum("djx,dj->dx", across, solved)
    left = K[:, J:, J:] - np.einsum(
        "djx,djy->dxy", across, np.linalg.solve(among, across)
    )
    spread = np.einsum("dxx->dx", left)
    variance = spread[:, :, None] + spread[:, None, :] - 2.0 * left
    variance = np.clip(variance, 0.0, None)
    gap = (mean[:, :, None] - mean[:, None, :]) ** 2
    k = np.exp(-0.5 * gap / (1.0 + variance)) / np.sqrt(1.0 + variance)
    return np.einsum("d,dxy->xy", weight, k), 1.0 / float((weight**2).sum())


def rbf_1d(difference: np.ndarray) -> np.ndarray:
    """Squared exponential of a difference in lengthscales."""
    return np.exp(-0.5 * difference**2)
