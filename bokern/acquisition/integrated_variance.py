"""Active learning: what an observation takes from the variance over the box."""

from __future__ import annotations

from torch import Tensor

from bokern.acquisition.joint import JointMoments, OverPoints


class IntegratedVariance(OverPoints):
    r"""What an observation takes from the posterior variance, on average over points.

    $$F(x) = \frac1N \sum_i \frac{\Sigma(z_i, x)^2}{\Sigma(x, x) + s}$$

    The variance that is left does not depend on the value observed, so nothing is
    imagined: maximising F minimises the integrated posterior variance exactly.

    Reduces to: BoTorch's ``qNegIntegratedPosteriorVariance``, up to a constant and at a
    fraction of its cost.

    References:
        Seo, Wallat, Graepel and Obermayer (2000), "Gaussian process regression: active
        data selection and test point rejection", IJCNN, eq. 11.
    """

    def gain(self, moments: JointMoments) -> Tensor:
        """In squared units of the outcome."""
        return moments.cross.square().mean(-1) / moments.spread.square()
