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
from bokern.kernels.exposed import (
    Exposed,
    ExposedCosine,
    ExposedMatern,
    ExposedPeriodic,
    ExposedRationalQuadratic,
    ExposedRBF,
    ExposedSpectralMixture,
)
from bokern.kernels.hyperdata import (
    FreeHyperdata,
    Hyperdata,
    NetworkHyperdata,
    WhitenedHyperdata,
    spread_places,
)
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
    "ConditionalDeepKernel",
    "Exposed",
    "ExposedCosine",
    "ExposedMatern",
    "ExposedPeriodic",
    "ExposedRBF",
    "ExposedRationalQuadratic",
    "ExposedSpectralMixture",
    "FreeHyperdata",
    "Hyperdata",
    "KumaraswamyKernel",
    "LinearKernel",
    "MaternKernel",
    "NetworkHyperdata",
    "OutputscaleKernel",
    "PeriodicKernel",
    "ProductKernel",
    "RBFKernel",
    "RationalQuadraticKernel",
    "StationaryKernel",
    "StructureKernel",
    "SumKernel",
    "ViewSumKernel",
    "WhitenedHyperdata",
    "WrapperKernel",
    "ZeroMeanDeepKernel",
    "spread_places",
    "without_symmetry",
]
