"""Thompson sampling: one function drawn from the posterior, to be maximised."""

from __future__ import annotations

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.posteriors import GPyTorchPosterior
from botorch.utils.sampling import draw_sobol_samples
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor

from bokern.models import MixtureGP
from bokern.numerics import cholesky

SPREAD, NEAR = 192, 64
"""Points at which the function is drawn: in the whole box, and about the best one."""

WIDTH = 0.05
"""Standard deviation of those about the best, as a share of the box."""


class ThompsonSample(AcquisitionFunction):
    r"""A function drawn from the posterior.

    It is drawn at points S that fill the box, and between them it is what the posterior
    expects given these values, which is continuous and can be optimised by gradients:

    $$F(x) = \mu(x) + \Sigma(x, S)\, \Sigma(S, S)^{-1} (f_S - \mu(S)).$$

    At S it is a draw from the joint posterior. Of a mixture one member is drawn first,
    with its hyperparameters if it has draws of them. Pending points need no care: each
    trial has a draw of its own.

    Cost: one joint posterior of all candidates and 256 points a call.

    Args:
        model: A fitted model with one output, or several and a posterior transform.
        bounds: ``2 x d``, lower and upper, in the units of the model's inputs.
        posterior_transform: Turns the posterior into the one to be maximised.
        near: ``n x d`` points seen, the best of which is drawn about; None for none.
        seed: Of the draw.
    """

    points: Tensor
    weights: Tensor

    def __init__(
        self,
        model: Model,
        bounds: Tensor,
        posterior_transform: PosteriorTransform | None = None,
        near: Tensor | None = None,
        seed: int = 0,
    ) -> None:
        generator = torch.Generator().manual_seed(seed)
        if isinstance(model, MixtureGP):
            share = model.atom_weights.detach().cpu()
            model = model.atom(int(torch.multinomial(share, 1, generator=generator)))
        super().__init__(model=model)
        self.posterior_transform = posterior_transform
        points = draw_sobol_samples(bounds, SPREAD, 1, seed=seed).squeeze(-2)
        if near is not None and len(near):
            with torch.no_grad():
                best = near[self._moments(near)[0].argmax()]
            step = torch.randn(NEAR, len(best), generator=generator).to(best)
            about = best + WIDTH * (bounds[1] - bounds[0]) * step
            points = torch.cat([points, about.clamp(bounds[0], bounds[1])])
        self.register_buffer("points", points)
        with torch.no_grad():
            mean, covariance = self._moments(points)
            root, _ = cholesky(covariance)
            draw = torch.randn(len(points), generator=generator).to(mean)
            # Σ⁻¹ (f − μ) = L⁻ᵀ ε for f = μ + L ε.
            weights = torch.linalg.solve_triangular(
                root.mT, draw.unsqueeze(-1), upper=True
            )
        self.register_buffer("weights", weights)

    def _moments(self, X: Tensor) -> tuple[Tensor, Tensor]:
        posterior = self.model.posterior(
            X, posterior_transform=self.posterior_transform
        )
        assert isinstance(posterior, GPyTorchPosterior)
        normal = posterior.distribution
        return normal.mean, normal.covariance_matrix

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]
    def forward(self, X: Tensor) -> Tensor:
        """The function's value.

        Args:
            X: ``b x 1 x d`` candidates.

        Returns:
            ``b`` values.
        """
        # One joint posterior serves all candidates: its covariance is no larger than
        # that of one candidate each with all points.
        candidates = X.reshape(-1, X.shape[-1])
        mean, covariance = self._moments(torch.cat([candidates, self.points.to(X)]))
        count = len(candidates)
        drawn = mean[:count] + (covariance[:count, count:] @ self.weights).squeeze(-1)
        return drawn.reshape(X.shape[:-2])
