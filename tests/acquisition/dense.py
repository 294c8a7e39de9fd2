"""Posterior moments after hallucinated points, solved anew by dense algebra."""

from __future__ import annotations

import torch


def dense_moments(model, data, pending, x, noise):
    """Mean and sd of f at x, given the data and the model's own means at pending.

    The hyperparameters are the model's; ``noise`` is the variance of the hallucinated
    values, on the scale of the standardised targets.
    """
    scale, shift = model.outcome_transform.stdvs, model.outcome_transform.means
    believed = model.posterior(pending).mean
    X = model.input_transform(torch.cat([data[0], pending]))
    y = (torch.cat([data[1], believed]) - shift) / scale
    variances = [model.likelihood.noise.item()] * len(data[0]) + [noise] * len(pending)
    K = model.covar_module(X).to_dense() + torch.diag(torch.tensor(variances).double())
    x = model.input_transform(x)
    k = model.covar_module(x, X).to_dense()
    m = model.mean_module.constant
    mean = m + k @ torch.linalg.solve(K, y - m)
    prior = model.covar_module(x).to_dense().diagonal()
    variance = prior - (k * torch.linalg.solve(K, k.mT).mT).sum(-1)
    return (mean * scale + shift).squeeze(-1), variance.sqrt() * scale.squeeze()
