r"""Mixtures of squared exponentials of Gaussian differences, and their derivatives.

Of latents with differences $\Delta_j \sim N(\mu_j, v_j)$, independent, a squared
exponential of squared lengthscale g has the expectation

$$\prod_j (1 + v_j/g)^{-1/2} \exp\big(-\mu_j^2 / (2 (g + v_j))\big)$$

and a mixture over g is a weighted sum of these. With $r_j = 1/(g + v_j)$ and an integer
$a_j$ for each latent, the sums

$$F_a = \sum_g w_g \prod_j g^{1/2}\, r_j^{1/2 + a_j}\, e^{-\mu_j^2 r_j / 2}$$

have derivatives of their own kind, so that all are there by one expression:

$$\partial F_a / \partial \mu_j = -\mu_j F_{a + e_j}, \qquad
  \partial F_a / \partial v_j
    = -(\tfrac12 + a_j) F_{a + e_j} + \tfrac12 \mu_j^2 F_{a + 2 e_j}$$
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

CHUNK_ENTRIES = {"cpu": 2**16, "cuda": 2**24}
"""Entries, of all lengthscales together, at a time: half a megabyte stays in
the cache of a core."""

Rule = tuple[tuple[float, float], ...]
"""Weights of squared exponentials, and their squared lengthscales."""


def expected_mixture(
    rule: Rule, means: Sequence[Tensor], variances: Sequence[Tensor]
) -> Tensor:
    r"""The expectation of a mixture, elementwise; $F_0$ above.

    Keeps its arguments for the backward pass and nothing of the sum over lengthscales.

    Args:
        rule: Weights and squared lengthscales, shared by the latents.
        means: Of the difference of each latent; all broadcast.
        variances: Of the same.
    """
    latents = torch.broadcast_tensors(*means, *variances)
    value: Tensor = _Mixture.apply(rule, (0,) * len(means), *latents)
    return value


class _Mixture(torch.autograd.Function):
    """$F_a$ of means and variances, in this order."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, rule: Rule, powers: tuple[int, ...], *latents: Tensor
    ) -> Tensor:
        ctx.rule, ctx.powers = rule, powers  # type: ignore[attr-defined]
        ctx.save_for_backward(*latents)
        found = torch.empty_like(latents[0], memory_format=torch.contiguous_format)
        flat = found.view(-1)
        for part, pieces in _parts(latents, len(rule)):
            weights, terms, _ = _terms(rule, powers, pieces)
            flat[part] = weights @ terms
        return found

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = grads
        latents = ctx.saved_tensors
        if torch.is_grad_enabled():
            found = _twice(ctx.rule, ctx.powers, latents)
        else:
            found = _once(ctx.rule, ctx.powers, latents)
        needed = ctx.needs_input_grad[2:]
        pairs = zip(found, needed, strict=True)
        return None, None, *(grad * f if wants else None for f, wants in pairs)


def _once(
    rule: Rule, powers: tuple[int, ...], latents: Sequence[Tensor]
) -> list[Tensor]:
    """Derivatives in means and variances, which have no graph."""
    d, like = len(powers), torch.contiguous_format
    found = [torch.empty_like(t, memory_format=like) for t in latents]
    for part, pieces in _parts(latents, len(rule)):
        weights, terms, rates = _terms(rule, powers, pieces)
        for j, (mean, rate) in enumerate(zip(pieces, rates, strict=False)):
            term = terms * rate
            first = weights @ term
            second = weights @ term.mul_(rate)
            slopes = _slopes(powers[j], mean, first, second)
            for at, slope in zip((j, d + j), slopes, strict=True):
                found[at].view(-1)[part] = slope
    return found


def _twice(
    rule: Rule, powers: tuple[int, ...], latents: Sequence[Tensor]
) -> list[Tensor]:
    """Derivatives that can be differentiated again."""
    found = []
    for j, mean in enumerate(latents[: len(powers)]):
        more = [(*powers[:j], powers[j] + k, *powers[j + 1 :]) for k in (1, 2)]
        sums = (_Mixture.apply(rule, a, *latents) for a in more)
        found.append(_slopes(powers[j], mean, *sums))
    return [pair[0] for pair in found] + [pair[1] for pair in found]


def _slopes(
    power: int, mean: Tensor, first: Tensor, second: Tensor
) -> tuple[Tensor, Tensor]:
    """Derivatives in a mean and its variance from the sums of one and two powers more.

    See the module.
    """
    return -mean * first, 0.5 * mean.square() * second - (0.5 + power) * first


def _parts(
    latents: Sequence[Tensor], nodes: int
) -> Iterator[tuple[slice, list[Tensor]]]:
    """Entries of all latents as vectors, a few at a time."""
    flat = [t.reshape(-1) for t in latents]
    device = latents[0].device.type
    step = max(1, CHUNK_ENTRIES.get(device, CHUNK_ENTRIES["cuda"]) // nodes)
    for start in range(0, flat[0].numel(), step):
        part = slice(start, start + step)
        yield part, [t[part] for t in flat]


def _terms(
    rule: Rule, powers: tuple[int, ...], pieces: Sequence[Tensor]
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Weights of the nodes; nodes x entries: terms of the sum, and r of each latent."""
    d = len(powers)
    weights = pieces[0].new_tensor([w for w, _ in rule])
    node = pieces[0].new_tensor([g for _, g in rule]).unsqueeze(-1)
    rates = [(v + node).reciprocal_() for v in pieces[d:]]
    halves = [mean.square().mul_(-0.5) for mean in pieces[:d]]
    terms = reduce(Tensor.add_, map(torch.mul, rates, halves)).exp_()
    # Of numbers of at most 1: a product of many rates may overflow.
    terms.mul_(reduce(Tensor.mul_, (rate * node for rate in rates)).sqrt_())
    for power, rate in zip(powers, rates, strict=True):
        for _ in range(power):
            terms.mul_(rate)
    return weights, terms, rates
