r"""The log posterior of hyperparameters, in unconstrained coordinates.

$$\log p(z \mid X, \theta) + \log p(\theta), \qquad \theta \in R^k$$

with the Jacobian of each constraint inside the prior. Fitting, Laplace and every
other integration use this one object, so that they agree on the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, cast

import torch
from gpytorch import Module
from gpytorch.constraints import Interval
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
from gpytorch.means import Mean
from torch import Tensor

from bokern.errors import EvidenceError
from bokern.fitting.deadline import check_time
from bokern.fitting.gaussian_prior import gaussian_moments
from bokern.fitting.row_blocks import Covariance, RowBlocks
from bokern.fitting.terms import GaussianNoise, Terms
from bokern.kernels import StructureKernel
from bokern.numerics import LOG_2PI, cholesky

EXPLORED_ROWS = 400
"""By which lengthscales are found, where kernels begin a fit as others."""

MAX_ITERATIONS = 500
HESSIAN_ELEMENTS = 2**23
"""Covariance entries differentiated twice at a time: about 2.5 GB of autograd."""

DIFFERENCED_ABOVE = 200
"""Observations above which gradients of a dense objective in float64 are differenced:
a Hessian of 400 rows takes a third, one of 900 a quarter of the time."""

DIFFERENCE = 1e-5
"""Step in θ: log determinants of 400 rows then lie within 1e-5 of the exact ones, where
the log period of 40 cycles is off by 3e-4 at ten times the step."""


@dataclass(frozen=True)
class Coordinate:
    """Where a parameter lies in the vector θ.

    Args:
        name: Its qualified name.
        span: Its slice of θ.
        shape: Its shape without leading batch dimensions.
        constraint: The constraint on its raw value; its logarithm is then a
            coordinate.
    """

    name: str
    span: slice
    shape: torch.Size
    constraint: Interval | None


class LogPosterior:
    """Log likelihood and log prior of θ, batched over leading dimensions of θ.

    Args:
        mean_module: GPyTorch mean.
        covar_module: One of our kernels.
        likelihood: Gaussian, of inferred or given noise.
        X: ``aug x n x d`` inputs as the kernel sees them, in the unit cube.
        z: ``aug x n`` targets as the kernel sees them.
        use_prior: Whether the objective has the log prior (MAP) or not (type-II
            maximum likelihood).

    Values are in nats, of the targets as given: the Jacobian of an outcome transform
    is not in them.
    """

    batches_pay = False
    """Whether many θ at once cost less than one by one at any number of observations:
    of dense covariances, only small ones do."""

    def __init__(
        self,
        mean_module: Mean,
        covar_module: StructureKernel,
        likelihood: GaussianNoise,
        X: Tensor,
        z: Tensor,
        use_prior: bool = True,
    ) -> None:
        self._terms = Terms(mean_module, covar_module, likelihood)
        self.X = X.detach()
        self.z = z.detach()
        self.use_prior = use_prior
        self.batch_shape = z.shape[:-1]
        self.coordinates = self._index()
        self.dim = self.coordinates[-1].span.stop if self.coordinates else 0
        with torch.no_grad():
            self._active, self._gaussian = self._read_priors()

    def _index(self) -> tuple[Coordinate, ...]:
        constraints = {
            name: constraint
            for child_name, child in self._terms.named_children()
            for name, constraint in _qualified_constraints(
                child_name, cast(Module, child)
            )
        }
        coordinates, start = [], 0
        batch_dims = len(self.batch_shape)
        for name, parameter in self._terms.named_parameters():
            if not parameter.requires_grad:
                continue
            shape = parameter.shape[batch_dims:]
            stop = start + shape.numel()
            constraint = constraints.get(name)
            coordinates.append(Coordinate(name, slice(start, stop), shape, constraint))
            start = stop
        return tuple(coordinates)

    @property
    def num_data(self) -> int:
        """Number of observations, n."""
        return self.z.shape[-1]

    @property
    def entries(self) -> int:
        """Covariances that are kept at a time for one θ: what memory goes by."""
        return self.num_data**2 * self._terms.covar_module.entries

    @property
    def work(self) -> int:
        """Evaluations of the kernel's innermost part for one θ: time goes by it."""
        return self.num_data**2 * self._terms.covar_module.evaluations

    @property
    def explored_rows(self) -> int | None:
        """Observations by which starts are followed to their optima, if not by all.

        Of kernels that begin as another one, a few hundred: what they lead to is near
        enough to go on from.
        """
        apart = any(k.beginning() is not k for _, k in self.kernels())
        return EXPLORED_ROWS if apart else None

    @property
    def affordable(self) -> int:
        """Iterations of an optimisation from one start at most."""
        return MAX_ITERATIONS

    def thinned(self, generator: torch.Generator) -> LogPosterior | None:
        """The objective of a part of many rows, to come near to the optimum; or None.

        Args:
            generator: Of the rows.
        """
        return None

    newton_pays = True
    """Whether Newton steps, for which Hessians are differenced, finish a fit."""

    def on_rows(self, rows: Tensor) -> LogPosterior:
        """The objective of some rows of the data, over the same modules."""
        terms = self._terms
        likelihood = terms.likelihood
        if isinstance(likelihood, FixedNoiseGaussianLikelihood):
            likelihood = known_noise_of(likelihood, (..., rows))
        return LogPosterior(
            terms.mean_module,
            terms.covar_module,
            likelihood,
            self.X[..., rows, :],
            self.z[..., rows],
            self.use_prior,
        )

    def get(self) -> Tensor:
        """The modules' present θ, ``aug x k``."""
        parameters = dict(self._terms.named_parameters())
        parts = [
            parameters[c.name].detach().reshape(*self.batch_shape, -1).to(self.z)
            for c in self.coordinates
        ]
        if not parts:
            return self.z.new_empty((*self.batch_shape, 0))
        return torch.cat(parts, -1)

    def set(self, theta: Tensor) -> None:
        """Writes θ, ``aug x k``, into the modules."""
        parameters = dict(self._terms.named_parameters())
        with torch.no_grad():
            for name, value in self._unpack(theta).items():
                parameters[name].copy_(value)

    def values(self, theta: Tensor) -> dict[str, Tensor]:
        """Constrained values of θ by name."""
        raw = self._unpack(theta)
        return {
            c.name: raw[c.name]
            if c.constraint is None
            else c.constraint.transform(raw[c.name])
            for c in self.coordinates
        }

    def is_log(self) -> Tensor:
        """Which of the k coordinates are logarithms of positive values."""
        mask = torch.zeros(self.dim, dtype=torch.bool, device=self.z.device)
        for c in self.coordinates:
            mask[c.span] = c.constraint is not None
        return mask

    def kernels(self) -> Iterator[tuple[str, StructureKernel]]:
        """Each kernel of the structure, and what its coordinates' names begin with."""
        for prefix, kernel in self._terms.covar_module.named_modules():
            if isinstance(kernel, StructureKernel):
                yield f"covar_module.{prefix}." if prefix else "covar_module.", kernel

    def log_likelihood(self, theta: Tensor) -> Tensor:
        """``log p(z | X, θ)``, ``...`` for θ of ``... x k``; −inf where K fails."""
        theta, usable = _usable(theta)
        mean, K, noise = self.moments(theta)
        L, good = cholesky(K + torch.diag_embed(noise))
        residual = (self.z - mean).unsqueeze(-1)
        white = torch.linalg.solve_triangular(L, residual, upper=False).squeeze(-1)
        logdet = L.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        value = -0.5 * (white.square().sum(-1) + self.num_data * LOG_2PI) - logdet
        return torch.where(good & usable, value, -torch.inf)

    def log_prior(self, theta: Tensor) -> Tensor:
        """``log p(θ)`` with the Jacobians of the constraints, ``...``."""
        theta, usable = _usable(theta)
        if self._gaussian is None:
            total = self._log_prior_by_terms(theta)
        else:
            mean, sd = self._gaussian
            density = ((theta - mean) / sd).square() + 2.0 * sd.log() + LOG_2PI
            total = -0.5 * density.sum(-1)
        return torch.where(usable, total, -torch.inf)

    def _log_prior_by_terms(self, theta: Tensor) -> Tensor:
        """The sum of all log densities and log slopes, for priors of any kind."""
        lead = theta.shape[:-1]
        total = theta.new_zeros(lead)
        priors = self._terms.at(self._unpack(theta), Terms.priors)
        for number in self._active:
            prior, value = priors[number]
            total = total + prior.log_prob(value).reshape(*lead, -1).sum(-1)
        for c in self.coordinates:
            if c.constraint is not None:
                raw = theta[..., c.span]
                total = total + _log_slope(c.constraint, raw).sum(-1)
        return total

    def _read_priors(self) -> tuple[tuple[int, ...], tuple[Tensor, Tensor] | None]:
        """Which priors depend on θ, and θ's moments if all of them are Gaussian.

        A prior on a value that is held fixed is no part of the density of θ.
        """
        if not self.dim:
            return (), None
        ramp = torch.linspace(-1.0, 1.0, self.dim).to(self.z)
        ramp = ramp.expand(*self.batch_shape, self.dim)
        raw = self._unpack(ramp)
        here = self._terms.at(raw, Terms.priors)
        there = self._terms.at(self._unpack(0.5 * ramp - 0.7), Terms.priors)
        active = tuple(
            i
            for i, (_, value) in enumerate(here)
            if not torch.equal(value, there[i][1])
        )
        if self.batch_shape:
            return active, None
        is_log = {
            c.name: getattr(c.constraint, "_transform", None) is torch.exp
            for c in self.coordinates
        }
        moments = gaussian_moments(raw, is_log, [here[i] for i in active])
        if moments is None:
            return active, None
        ordered = [moments[c.name] for c in self.coordinates]
        mean, sd = (torch.cat([m[k].flatten() for m in ordered]) for k in (0, 1))
        return active, (mean, sd)

    def __call__(self, theta: Tensor) -> Tensor:
        """The objective at θ, ``...``."""
        value = self.log_likelihood(theta)
        return value + self.log_prior(theta) if self.use_prior else value

    def value_and_gradient(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        r"""The objective and its gradient.

        By $\partial L/\partial K = (\alpha \alpha^T - K^{-1})/2$ rather than through
        the factorisation.
        """
        theta, usable = _usable(theta.detach())
        theta = theta.requires_grad_(True)
        blocks = self._blocks(theta)
        with torch.enable_grad():
            kernel = self._kernel(theta)
            mean, noise = self._mean_and_noise(theta)
            prior = self.log_prior(theta) if self.use_prior else theta.sum(-1) * 0.0
            K = blocks.covariance(kernel, theta.shape[:-1])
        with torch.no_grad():
            L, good = cholesky(K + torch.diag_embed(noise))
            residual = (self.z - mean).unsqueeze(-1)
            alpha = torch.cholesky_solve(residual, L).squeeze(-1)
            logdet = L.diagonal(dim1=-2, dim2=-1).log().sum(-1)
            quadratic = (residual.squeeze(-1) * alpha).sum(-1)
            value = -0.5 * (quadratic + self.num_data * LOG_2PI) - logdet + prior
            good = good & usable & torch.isfinite(value)
            dK = torch.cholesky_inverse(L).neg_()
            dK.addcmul_(alpha.unsqueeze(-1), alpha.unsqueeze(-2)).mul_(0.5)
            dK[~good], alpha[~good] = 0.0, 0.0
            dnoise = dK.diagonal(dim1=-2, dim2=-1)
            value = torch.where(good, value, -torch.inf)
        outputs, grads = [], []
        for output, grad in (
            (mean, alpha),
            (K, dK),
            (noise, dnoise),
            (prior, torch.ones_like(prior)),
        ):
            if output.requires_grad:
                outputs.append(output)
                grads.append(grad.expand(output.shape))
        (gradient,) = torch.autograd.grad(outputs, theta, grads)
        if not blocks.is_one:
            gradient = gradient + blocks.gradient(kernel, theta, dK)
        gradient = torch.where(good[..., None], gradient, 0.0).nan_to_num()
        return value, gradient

    def hessian(self, theta: Tensor) -> Tensor:
        """Second derivatives of the objective at one θ, ``k x k``."""
        dense = not self.batches_pay and self.z.dtype == torch.float64
        # Second derivatives keep what the gradient sums as it comes.
        is_long = self.num_data > DIFFERENCED_ABOVE or self.work > self.entries
        if dense and is_long:
            return self._differences(theta)
        return _hessian(self, theta, self.work)

    def _differences(self, theta: Tensor) -> Tensor:
        """Central differences of the gradient at one θ, ``k x k``."""
        steps = DIFFERENCE * torch.eye(self.dim).to(theta)
        H = torch.cat(
            [
                self.value_and_gradient((theta + step).unsqueeze(0))[1]
                - self.value_and_gradient((theta - step).unsqueeze(0))[1]
                for step in steps
            ]
        )
        return (H + H.T) / (4.0 * DIFFERENCE)

    def prior_hessian(self, theta: Tensor) -> Tensor:
        """Second derivatives of the log prior at one θ, ``k x k``."""
        return _hessian(self.log_prior, theta, 1)

    def prior_moments(self) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of θ under the prior, ``k`` each.

        Exact for priors that are Gaussian in these coordinates, as all defaults are.
        """
        if self._gaussian is not None:
            return self._gaussian
        theta = self.z.new_zeros(self.dim, requires_grad=True)
        with torch.enable_grad():
            (gradient,) = torch.autograd.grad(self.log_prior(theta), theta)
        theta = theta.detach()
        variance = -self.prior_hessian(theta).diagonal().clamp_max(-1e-3).reciprocal()
        return theta + variance * gradient, variance.sqrt()

    def check_proper(self) -> None:
        """Checks that every hyperparameter has a prior.

        Raises:
            EvidenceError: If one has none; evidence is then not defined.
        """
        parameters = dict(self._terms.named_parameters())
        raw = {
            c.name: parameters[c.name].detach().clone().requires_grad_(True)
            for c in self.coordinates
        }
        with torch.enable_grad():
            values = [value for _, value in self._terms.at(raw, Terms.priors)]
            total = sum((v.sum() for v in values), self.z.new_zeros(()))
            tensors = list(raw.values())
            grads: Sequence[Tensor | None] = [None] * len(tensors)
            if total.requires_grad:
                grads = torch.autograd.grad(total, tensors, allow_unused=True)
        missing = [n for n, g in zip(raw, grads, strict=True) if g is None]
        if missing:
            raise EvidenceError(
                "evidence needs a proper prior on every hyperparameter, but "
                f"{', '.join(missing)} has none: register one, or fix its value"
            )

    def moments(self, theta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Mean ``... x n``, covariance without noise, and noise variances at θ."""
        mean, noise = self._mean_and_noise(theta)
        lead, n, kernel = theta.shape[:-1], self.num_data, self._kernel(theta)
        if torch.is_grad_enabled():
            return mean, kernel(self.X, self.X).expand(*lead, n, n), noise
        return mean, self._blocks(theta).covariance(kernel, lead), noise

    def inverse_terms(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """α = K⁻¹ (z − m) and the diagonal of K⁻¹, noise included, ``... x n`` each."""
        with torch.no_grad():
            mean, K, noise = self.moments(theta)
            L, _ = cholesky(K + torch.diag_embed(noise))
            inverse = torch.cholesky_inverse(L)
            alpha = (inverse @ (self.z - mean).unsqueeze(-1)).squeeze(-1)
            return alpha, inverse.diagonal(dim1=-2, dim2=-1)

    def _mean_and_noise(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        shape = (*theta.shape[:-1], self.num_data)
        raw = self._unpack(theta)
        mean, noise = self._terms.at(raw, lambda terms: terms.mean_and_noise(self.X))
        return mean.expand(shape), noise.expand(shape)

    def _blocks(self, theta: Tensor) -> RowBlocks:
        batch = math.prod(theta.shape[:-1])
        return RowBlocks(self.X, batch * self._terms.covar_module.entries)

    def _kernel(self, theta: Tensor) -> Covariance:
        """The covariance function at θ."""
        raw = self._unpack(theta)

        def kernel(x1: Tensor, x2: Tensor) -> Tensor:
            check_time()
            return self._terms.at(raw, lambda t: t.covar_module.forward(x1, x2))

        return kernel

    def _unpack(self, theta: Tensor) -> dict[str, Tensor]:
        lead = theta.shape[:-1]
        return {
            c.name: theta[..., c.span].reshape((*lead, *c.shape))
            for c in self.coordinates
        }


def known_noise_of(
    likelihood: FixedNoiseGaussianLikelihood, index: Any
) -> FixedNoiseGaussianLikelihood:
    """A copy with some of the variances, not rounded up by a global setting."""
    part = deepcopy(likelihood)
    part.noise_covar.noise = likelihood.noise[index]
    return part


def _usable(theta: Tensor) -> tuple[Tensor, Tensor]:
    """θ with 0 in place of rows that are not finite, and which rows are."""
    usable = torch.isfinite(theta).all(-1)
    return torch.where(usable.unsqueeze(-1), theta, 0.0), usable


def _hessian(
    function: Callable[[Tensor], Tensor], theta: Tensor, entries: int
) -> Tensor:
    """Rows of a Hessian, many at a time: one copy of θ for each row."""
    k = theta.shape[-1]
    rows = max(1, min(k, HESSIAN_ELEMENTS // entries))
    result = []
    for start in range(0, k, rows):
        count = min(rows, k - start)
        copies = theta.detach().expand(count, k).clone().requires_grad_(True)
        with torch.enable_grad():
            value = function(copies).sum()
            (gradient,) = torch.autograd.grad(value, copies, create_graph=True)
            picked = gradient[range(count), range(start, start + count)].sum()
            if not picked.requires_grad:
                result.append(torch.zeros_like(copies))
                continue
            (block,) = torch.autograd.grad(picked, copies)
        result.append(block)
    H = torch.cat(result)
    return 0.5 * (H + H.T)


def _qualified_constraints(prefix: str, module: Module) -> list[tuple[str, Interval]]:
    return [
        (f"{prefix}.{name.removesuffix('_constraint')}", constraint)
        for name, constraint in module.named_constraints()
    ]


def _log_slope(constraint: Interval, raw: Tensor) -> Tensor:
    """Logarithm of the constraint's derivative, elementwise."""
    if constraint._transform is torch.exp:
        return raw
    raise EvidenceError(
        f"the Jacobian of {constraint} is not known: use a constraint with "
        "transform=torch.exp"
    )
