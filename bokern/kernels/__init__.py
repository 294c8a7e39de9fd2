"""GPyTorch kernels: dense, twice differentiable, batched over hyperparameters."""

from bokern.kernels.base import (
    ColumnKernel,
    Columns,
    OutputscaleKernel,
    StructureKernel,
    WrapperKernel,
)
from bokern.kernels.change_point import ChangePointKernel
from bokern.kernels.composite import ProductKernel, SumKernel
from bokern.kernels.deep import ZeroMeanDeepKernel
from bokern.kernels.input_warp import KumaraswamyKernel
from bokern.kernels.linear import LinearKernel
from bokern.kernels.periodic import PeriodicKernel
from bokern.kernels.stationary import (
    MaternKernel,
    RationalQuadraticKernel,
    RBFKernel,
    StationaryKernel,
)
from bokern.kernels.view_sum import ViewSumKernel, without_symmetry

__all__ = [
    "ChangePointKernel",
    "ColumnKernel",
    "Columns",
    "KumaraswamyKernel",
    "LinearKernel",
    "MaternKernel",
    "OutputscaleKernel",
    "PeriodicKernel",
    "ProductKernel",
    "RBFKernel",
    "RationalQuadraticKernel",
    "StationaryKernel",
    "StructureKernel",
    "SumKernel",
    "ViewSumKernel",
    "WrapperKernel",
    "ZeroMeanDeepKernel",
    "without_symmetry",
]
