"""Where the peers are installed that have environments of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "BOKERN_PEERS"


@dataclass(frozen=True)
class Package:
    """What a peer needs.

    Args:
        name: As it is installed.
        module: As it is imported.
        install: What makes an environment of it.
    """

    name: str
    module: str
    install: str


_HEBO = (
    "pip install torch gpytorch 'numpy<2' 'scipy<1.12' 'pandas<2.2' "
    "'scikit-learn<1.5' GPy==1.13.2 autograd cma alive-progress dill Deprecated "
    "disjoint-set matplotlib plotly graphviz six && "
    "pip install --no-deps pymoo==0.6.0 catboost HEBO==0.3.6"
)
"""In an environment of its own, since it needs older releases than the others."""
_OPTUNA = Package("optuna", "optuna", "pip install optuna==5.0.0 torch")
PACKAGES = {
    "optuna-gp": _OPTUNA,
    "optuna-tpe": _OPTUNA,
    "smac": Package("smac", "smac", "pip install smac==2.4.1"),
    "bayes-opt": Package(
        "bayesian-optimization", "bayes_opt", "pip install bayesian-optimization==3.4.0"
    ),
    "hebo": Package("hebo", "hebo", _HEBO),
}
"""By the name of the method."""


def interpreter(method: str) -> Path | None:
    """The Python of the first environment that has a peer; None if none has."""
    module = PACKAGES[method].module
    for folder in _environments():
        if any(folder.glob(f"lib/python*/site-packages/{module}")):
            return folder / "bin" / "python"
    return None


def missing_peer(method: str) -> str | None:
    """Why a peer cannot run, and how to mend it."""
    if interpreter(method) is not None:
        return None
    package = PACKAGES[method]
    return (
        f"{package.name} is in no environment that {VARIABLE} names (folders joined "
        f"by {os.pathsep!r}): make one with `python -m venv FOLDER` and, in it, "
        f"`{package.install}`"
    )


def _environments() -> Iterator[Path]:
    for folder in os.environ.get(VARIABLE, "").split(os.pathsep):
        if folder:
            yield Path(folder)
