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
from bokern.kernels.conditional_deep import ConditionalDeepKernel
from bokern.kernels.deep import ZeroMeanDeepKernel
from bokern.kernels.exposed import EXPOSED, Exposed
from bokern.kernels.hyperdata import HYPERDATA, Hyperdata, spread_places
from bokern.kernels.input_warp import KumaraswamyKernel
from bokern.kernels.linear import LinearKernel
from bokern.kernels.periodic import PeriodicKernel
from bokern.kernels.product_matern import ProductMaternKernel
from bokern.kernels.sparse_spectrum import SparseSpectrumKernel
from bokern.kernels.sswim import SSWIMKernel
from bokern.kernels.stationary import (
    MaternKernel,
    RationalQuadraticKernel,
    RBFKernel,
    StationaryKernel,
)
from bokern.kernels.view_sum import ViewSumKernel, without_symmetry
from bokern.kernels.warp import UNIFORM, Bend, WarpKernel
from bokern.kernels.warped_measure import WarpedMeasureKernel

__all__ = [
    "EXPOSED",
    "HYPERDATA",
    "UNIFORM",
    "Bend",
    "ChangePointKernel",
    "ColumnKernel",
    "Columns",
    "ConditionalDeepKernel",
    "Exposed",
    "Hyperdata",
    "KumaraswamyKernel",
    "LinearKernel",
    "MaternKernel",
    "OutputscaleKernel",
    "PeriodicKernel",
    "ProductKernel",
    "ProductMaternKernel",
    "RBFKernel",
    "RationalQuadraticKernel",
    "SSWIMKernel",
    "SparseSpectrumKernel",
    "StationaryKernel",
    "StructureKernel",
    "SumKernel",
    "ViewSumKernel",
    "WarpKernel",
    "WarpedMeasureKernel",
    "WrapperKernel",
    "ZeroMeanDeepKernel",
    "spread_places",
    "without_symmetry",
]
