"""Deep Gaussian processes with hyperdata as structures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from bokern.errors import StructureError
from bokern.kernels import (
    EXPOSED,
    HYPERDATA,
    ConditionalDeepKernel,
    StructureKernel,
    spread_places,
)
from bokern.structures.base import KernelSpace, Layout, Place, Structure, check_part
from bokern.structures.classical import LONG, RBF, Matern, Periodic, RationalQuadratic
from bokern.structures.deep import MAX_WIDTH, DeepSE
from bokern.structures.invariant import Invariant
from bokern.structures.warped import _wrap_family
from bokern.views.groups import Group

MEANS = ("identity", "zero")
MAX_HYPERDATA, MAX_LAYERS, MAX_REACH = 200, 5, 10.0

LEAST_SCALE = -6.0
"""Log σ₁ at which the latents are their means to 1e-5."""


@dataclass(frozen=True, repr=False)
class ConditionalDeep(Structure):
    """A function of hidden functions that are known, up to learning, at some places.

    Nonstationary: the hidden functions stretch some regions and shrink others, and are
    uncertain away from those places. With mean "identity" there is one for each column
    that the base reads, and a plain kernel of the outer kind is the limit in which they
    do not bend; start there.

    Args:
        base: What is believed of each hidden function: a stationary kernel, a group
            average of one, or a deep structure, which makes one more layer.
        hyperdata: Number of places, spread over the box; 0 for none.
        exposed: The outer kernel, of `EXPOSED`; those without a distance take one
            hidden function.
        mean: "identity", or "zero" as in [CDGP].
        form: "whitened" hyperdata have their layer's own prior; those that are "free"
            are not bound to their neighbours; a tanh "network" gives them as in [CDGP].
        width: Number of hidden functions of mean zero.
        reach: Upper end of the places in units of the box, beyond 1 for forecasts.
        layers: More than 2 repeats the hidden layer below, in front of the base.
    """

    base: Structure = field(default=RBF())
    hyperdata: int = field(default=5, kw_only=True)
    exposed: str = field(default="rbf", kw_only=True)
    mean: str = field(default="identity", kw_only=True)
    form: str = field(default="whitened", kw_only=True)
    width: int = field(default=1, kw_only=True)
    reach: float = field(default=1.0, kw_only=True)
    layers: int = field(default=2, kw_only=True)

    summary: ClassVar[str] = "nonstationary deep GP given hyperdata, by its moments"

    def __post_init__(self) -> None:
        check_part("ConditionalDeep", self.base)
        _check_base(self.base)
        _check_whole("hyperdata", self.hyperdata, 0, MAX_HYPERDATA)
        _check_whole("width", self.width, 1, MAX_WIDTH)
        _check_whole("layers", self.layers, 2, MAX_LAYERS)
        if self.exposed == "matern-0.5":
            raise StructureError(
                "ConditionalDeep has no exposed='matern-0.5': its cusp mixes "
                "lengthscales of any smallness, which no quadrature reaches; take "
                "'matern-1.5'"
            )
        _check_choice("exposed", self.exposed, EXPOSED)
        _check_choice("mean", self.mean, MEANS)
        _check_choice("form", self.form, HYPERDATA)
        number = isinstance(self.reach, int | float) and self.reach is not True
        if not number or not 1.0 <= self.reach <= MAX_REACH:
            raise StructureError(
                f"ConditionalDeep expects 1 <= reach <= {MAX_REACH:g}, in units of the "
                f"box, got {self.reach!r:.60}"
            )
        object.__setattr__(self, "reach", float(self.reach))
        if self.mean == "identity" and self.width != 1:
            raise StructureError(
                "ConditionalDeep with mean='identity' has one hidden function for each "
                "column: leave out width="
            )
        if self.width > 1 and not EXPOSED[self.exposed]().is_radial:
            raise StructureError(
                f"ConditionalDeep with exposed={self.exposed!r} takes one hidden "
                "function, as it is no function of a distance: leave out width="
            )

    @property
    def family(self) -> str:
        """Deep over a classical base, else a composition."""
        return _wrap_family("deep", self.base)

    @property
    def is_stationary(self) -> bool:
        """Only without hyperdata."""
        return self.hyperdata == 0 and self.base.is_stationary

    @property
    def has_constant_variance(self) -> bool:
        """Yes."""
        return True

    @property
    def constant_at(self) -> Mapping[str, float]:
        """Where the hidden functions hardly vary."""
        if self.mean == "identity":
            return {"raw_latent_scale": -LONG, "raw_mean_lengthscale": LONG}
        return {"raw_latent_scale": -LONG}

    @property
    def children(self) -> tuple[Structure, ...]:
        """The base."""
        return (self.base,)

    def with_children(self, children: Sequence[Structure]) -> ConditionalDeep:
        """The same over another base."""
        return replace(self, base=children[0])

    def canonical(self) -> Structure:
        """With its layers written out."""
        if self.layers == 2:
            return replace(self, base=self.base.canonical())
        below = replace(self, layers=self.layers - 1, exposed="rbf")
        return replace(self, base=below.canonical(), layers=2)

    def _own_kinds(self) -> frozenset[str]:
        return self.base._own_kinds() | {"deep"}

    @property
    def symmetries(self) -> frozenset[Group]:
        """Those of the base, unless the identity breaks them."""
        return self.base.symmetries if self.mean == "zero" else frozenset()

    def is_symmetric_under(self, group: Group) -> bool:
        """Whether nothing but a symmetric base depends on the place."""
        if self.mean == "identity":
            return False
        if self.hyperdata:
            return any(own.contains(group) for own in self.base.symmetries)
        return self.base.is_symmetric_under(group)

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """The moments' kernel over the base's correlation.

        Raises:
            StructureError: If the outer kernel takes one hidden function and the mean
                gives one a column.
        """
        if self.layers > 2:
            return self.canonical().correlation(space)
        read = self.base.columns_read(space.dim)
        columns, identity = space.columns(read), self.mean == "identity"
        exposed = EXPOSED[self.exposed]()
        width = len(read) if identity else self.width
        if width > 1 and not exposed.is_radial:
            raise StructureError(
                f"{self} takes one hidden function, but mean='identity' has one for "
                f"each of {width} columns: take mean='zero', or a base of one column"
            )
        given = None
        if self.hyperdata:
            places = spread_places(self.hyperdata, read, space.dim, self.reach)
            given = HYPERDATA[self.form](places, width)
        base = self.base.correlation(space)
        return ConditionalDeepKernel(base, exposed, given, columns, identity, width)

    def _correlation_layout(self) -> Layout:
        if self.layers > 2:
            return self.canonical()._correlation_layout()
        return Layout(self, places=(Place(self.base, "base_kernel.", False),))

    @property
    def plain(self) -> Structure | None:
        """The structure to which it reduces while the hidden functions do not bend."""
        if self.mean == "zero" or not isinstance(self.base, RBF | Matern):
            return None
        leaves = {
            "rbf": RBF(),
            "rational-quadratic": RationalQuadratic(),
            "matern-1.5": Matern(1.5),
            "matern-2.5": Matern(2.5),
        }
        leaf = leaves.get(self.exposed)
        return leaf and replace(leaf, columns=self.base.columns).canonical()

    @property
    def straight(self) -> tuple[Mapping[str, str], Mapping[str, float]]:
        """How it stands where it is `plain`.

        Returns:
            Names of its own raw hyperparameters → names in the plain kernel, and raw
            values of the others.
        """
        names = {"raw_mean_lengthscale": "raw_lengthscale"}
        if self.exposed == "rational-quadratic":
            names["raw_alpha"] = "raw_alpha"
        given = HYPERDATA[self.form].straight if self.hyperdata else ()
        zeros = dict.fromkeys((f"raw_{name}" for name in given), 0.0)
        return names, {"raw_latent_scale": LEAST_SCALE, **zeros}

    def _lift(
        self, parent: Structure
    ) -> tuple[dict[str, str], dict[str, float]] | None:
        if self.plain != parent:
            return None
        own, (names, values) = "base_kernel.", self.straight
        carried = {own + here: own + there for here, there in names.items()}
        carried["raw_outputscale"] = "raw_outputscale"
        return carried, {own + name: value for name, value in values.items()}


def _check_base(base: Structure) -> None:
    """A hidden function has one variance, which σ₁ gives."""
    inner = base
    while isinstance(inner, Invariant) and inner.has_constant_variance:
        inner = inner.base
    leaves = RBF | Matern | RationalQuadratic | Periodic | DeepSE | ConditionalDeep
    if not isinstance(inner, leaves):
        raise StructureError(
            "ConditionalDeep expects a base of variance 1, a stationary kernel, a "
            f"normalised group average of one, or a deep structure, got {base}"
        )


def _check_whole(name: str, value: object, low: int, high: int) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not low <= value <= high:  # type: ignore[operator]
        raise StructureError(
            f"ConditionalDeep expects a whole number {low} <= {name} <= {high}, got "
            f"{value!r:.60}"
        )


def _check_choice(name: str, value: object, allowed: Mapping | Sequence) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise StructureError(
            f"ConditionalDeep expects {name} to be one of "
            f"{', '.join(map(repr, allowed))}, got {value!r:.60}"
        )
