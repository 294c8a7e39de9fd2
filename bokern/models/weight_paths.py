"""Draws of whole functions from the exact posterior, where weights give it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from botorch.sampling.pathwise.features.maps import FeatureMap
from botorch.sampling.pathwise.paths import GeneralizedLinearPath
from botorch.sampling.pathwise.posterior_samplers import DrawMatheronPaths
from botorch.sampling.pathwise.utils import get_input_transform, get_output_transform
from torch import Size, Tensor

from bokern.kernels import StructureKernel
from bokern.models.weight_space import WeightSpaceGP


class KernelFeatures(FeatureMap):
    """Features of a kernel, as BoTorch's paths read them.

    Args:
        kernel: With features.
        is_batch: Whether each outcome has a kernel of its own.
    """

    def __init__(self, kernel: StructureKernel, is_batch: bool) -> None:
        super().__init__()
        assert kernel.num_features is not None
        self.kernel = kernel
        self.is_batch = is_batch
        self.num_outputs = kernel.num_features
        self.batch_shape = kernel.batch_shape
        self.input_transform = self.output_transform = None

    def forward(self, x: Tensor, **kwargs: Any) -> Tensor:
        """``... x n x F``; with outcomes ``... x m x n x F``."""
        x = x.unsqueeze(-3) if self.is_batch else x
        return self.kernel.features(x.double())


@DrawMatheronPaths.register(WeightSpaceGP)
def _draw_weight_paths(
    model: WeightSpaceGP, *, sample_shape: Size, **kwargs: Any
) -> GeneralizedLinearPath:
    """Functions of weights from their posterior; no prior path and no update."""
    model.eval()
    if model.prediction_strategy is None:
        model.prediction_strategy = model.learn()
    learned = model.prediction_strategy
    standard = torch.randn(
        *sample_shape, *learned.cross.shape, dtype=learned.cross.dtype
    ).to(learned.cross)
    # Copies, so that a function stays as drawn when the model is fitted again.
    kernel = deepcopy(model.covar_module).requires_grad_(False)
    mean = deepcopy(model.mean_module).requires_grad_(False)
    return GeneralizedLinearPath(
        feature_map=KernelFeatures(kernel, model.num_outputs > 1),
        weight=learned.draw(standard).detach(),
        bias_module=mean,
        input_transform=get_input_transform(model),
        output_transform=get_output_transform(model),
    )
