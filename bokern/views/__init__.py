"""Maps from one input to several weighted points: the orbits of finite groups."""

from bokern.views.groups import (
    Group,
    closure,
    cyclic,
    permutations,
    product,
    reflections,
    sign_flips,
    swap,
)
from bokern.views.orbit import Identity, Orbit, Views

__all__ = [
    "Group",
    "Identity",
    "Orbit",
    "Views",
    "closure",
    "cyclic",
    "permutations",
    "product",
    "reflections",
    "sign_flips",
    "swap",
]
