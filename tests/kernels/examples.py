"""An example, or several, of every kernel class, on a given number of columns."""

from __future__ import annotations

import torch

from bokern.kernels import (
    ChangePointKernel,
    Columns,
    ConditionalDeepKernel,
    KumaraswamyKernel,
    LinearKernel,
    MaternKernel,
    OutputscaleKernel,
    PeriodicKernel,
    ProductKernel,
    ProductMaternKernel,
    RationalQuadraticKernel,
    RBFKernel,
    SparseSpectrumKernel,
    SSWIMKernel,
    StructureKernel,
    SumKernel,
    ViewSumKernel,
    WarpedMeasureKernel,
    ZeroMeanDeepKernel,
    spread_places,
)
from bokern.kernels.exposed import (
    ExposedMatern,
    ExposedPeriodic,
    ExposedRationalQuadratic,
    ExposedRBF,
    ExposedSpectralMixture,
)
from bokern.kernels.hyperdata import FreeHyperdata, NetworkHyperdata, WhitenedHyperdata
from bokern.spectral import Frequencies
from bokern.views import Orbit, cyclic, reflections


def every(dim):
    return Columns(range(dim), None, dim)


def first(dim):
    """The first column only."""
    return Columns([0], None, dim)


def tied(dim):
    return Columns(range(dim), [0] * dim, dim)


def waves(columns, batch):
    """Five frequencies."""
    drawn = Frequencies("matern", 1.5, 5, columns.size)
    return SparseSpectrumKernel(columns, drawn, batch)


def moved(columns, batch, layers=1, plug_in=False):
    """Five frequencies on warps given three places."""
    drawn = Frequencies("matern", 1.5, 5, columns.size)
    return SSWIMKernel(columns, drawn, layers, 3, plug_in, batch)


def measured(columns, batch, spectrum, layers=1, plug_in=False, law="independent"):
    """On warps given three places."""
    return WarpedMeasureKernel(columns, spectrum, 1.5, layers, 3, plug_in, law, batch)


def orbit(dim):
    group = cyclic(dim, range(dim)) if dim > 1 else reflections(0)
    return Orbit(group, dim)


def deep(d, b, form=WhitenedHyperdata, exposed=None, base=None, zero=0):
    """With the identity mean, or ``zero`` latents of mean zero."""
    given = None if form is None else form(spread_places(4, range(d), d), zero or d)
    return ConditionalDeepKernel(
        RBFKernel(every(d), b) if base is None else base,
        exposed or ExposedRBF(),
        given,
        every(d),
        not zero,
        zero or 1,
    )


EXAMPLES = {
    RBFKernel: {
        "ard": lambda d, b: RBFKernel(every(d), b),
        "first": lambda d, b: RBFKernel(first(d), b),
        "tied": lambda d, b: RBFKernel(tied(d), b),
    },
    MaternKernel: {
        str(nu): lambda d, b, nu=nu: MaternKernel(every(d), nu, b)
        for nu in (0.5, 1.5, 2.5)
    },
    ProductMaternKernel: {
        str(nu): lambda d, b, nu=nu: ProductMaternKernel(every(d), nu, b)
        for nu in (0.5, 1.5, 2.5)
    },
    SparseSpectrumKernel: {
        "ard": lambda d, b: waves(every(d), b),
        "tied": lambda d, b: waves(tied(d), b),
    },
    SSWIMKernel: {
        "one": lambda d, b: moved(every(d), b),
        "two": lambda d, b: moved(every(d), b, 2),
        "plug-in": lambda d, b: moved(first(d), b, 2, plug_in=True),
    },
    WarpedMeasureKernel: {
        "product": lambda d, b: measured(every(d), b, "product-matern"),
        "two": lambda d, b: measured(every(d), b, "matern", 2),
        "plug-in": lambda d, b: measured(tied(d), b, "rbf", 2, plug_in=True),
        "joint": lambda d, b: measured(every(d), b, "product-matern", law="joint"),
        "first": lambda d, b: measured(first(d), b, "rbf", law="joint"),
    },
    RationalQuadraticKernel: {"ard": lambda d, b: RationalQuadraticKernel(every(d), b)},
    PeriodicKernel: {
        "ard": lambda d, b: PeriodicKernel(every(d), b),
        "tied": lambda d, b: PeriodicKernel(tied(d), b),
    },
    LinearKernel: {
        "ard": lambda d, b: LinearKernel(every(d), b),
        "first": lambda d, b: LinearKernel(first(d), b),
    },
    ZeroMeanDeepKernel: {
        f"width {h}": lambda d, b, h=h: ZeroMeanDeepKernel(every(d), h, b)
        for h in (1, 3)
    },
    ConditionalDeepKernel: {
        "whitened": deep,
        "free": lambda d, b: deep(d, b, FreeHyperdata, ExposedMatern(1.5), zero=2),
        "network": lambda d, b: deep(d, b, NetworkHyperdata, zero=1),
        "mixture": lambda d, b: deep(d, b, exposed=ExposedSpectralMixture(), zero=1),
        "periodic": lambda d, b: deep(d, b, exposed=ExposedPeriodic(), zero=1),
        "nothing given": lambda d, b: deep(d, b, None, ExposedRationalQuadratic()),
        "three layers": lambda d, b: deep(d, b, base=deep(d, b)),
        "average": lambda d, b: deep(
            d, b, base=ViewSumKernel(RBFKernel(tied(d), b), orbit(d), True), zero=1
        ),
    },
    OutputscaleKernel: {"rbf": lambda d, b: OutputscaleKernel(RBFKernel(every(d), b))},
    KumaraswamyKernel: {
        "all": lambda d, b: KumaraswamyKernel(MaternKernel(every(d), 2.5, b), every(d)),
        "first": lambda d, b: KumaraswamyKernel(RBFKernel(every(d), b), first(d)),
    },
    SumKernel: {
        "two": lambda d, b: SumKernel(
            [LinearKernel(first(d), b), OutputscaleKernel(RBFKernel(every(d), b))]
        )
    },
    ChangePointKernel: {
        "two": lambda d, b: ChangePointKernel(
            RBFKernel(every(d), b),
            OutputscaleKernel(MaternKernel(every(d), 1.5, b)),
            first(d),
        ),
        "trend": lambda d, b: ChangePointKernel(
            OutputscaleKernel(LinearKernel(every(d), b)),
            OutputscaleKernel(RBFKernel(first(d), b)),
            Columns([d - 1], None, d),
        ),
    },
    ProductKernel: {
        "two": lambda d, b: ProductKernel(
            [PeriodicKernel(first(d), b), RationalQuadraticKernel(every(d), b)]
        )
    },
    ViewSumKernel: {
        "single": lambda d, b: ViewSumKernel(RBFKernel(tied(d), b), orbit(d), True),
        "double": lambda d, b: ViewSumKernel(
            MaternKernel(every(d), 1.5, b), orbit(d), False
        ),
        "bare": lambda d, b: ViewSumKernel(
            OutputscaleKernel(RBFKernel(tied(d), b)), orbit(d), True, normalize=False
        ),
    },
}

BUILDERS = {
    f"{cls.__name__}[{name}]": build
    for cls, examples in EXAMPLES.items()
    for name, build in examples.items()
}


def is_abstract(cls):
    """Whether a class leaves a method to be written."""
    return any(
        getattr(getattr(cls, name, None), "__isabstractmethod__", False)
        for name in dir(cls)
    )


def concrete_classes(cls=StructureKernel):
    """All subclasses in the package that leave nothing abstract."""
    ours = cls.__module__.startswith("bokern.")
    found = {cls} if ours and not is_abstract(cls) else set()
    return found.union(*(concrete_classes(sub) for sub in cls.__subclasses__()))


def randomise(kernel, seed=0):
    """Moves every hyperparameter by half a unit in unconstrained coordinates."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in kernel.parameters():
            step = torch.randn(parameter.shape, generator=generator)
            parameter.add_(0.5 * step.to(parameter))
    return kernel


def points(*shape, seed=0):
    """Uniform points of the unit cube."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, generator=generator, dtype=torch.float64)
