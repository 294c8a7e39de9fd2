"""Makes bokern's classes known to Ax's storage."""

from __future__ import annotations

from ax.storage.botorch_modular_registry import (
    register_acquisition,
    register_acquisition_function,
    register_model,
)
from ax.storage.json_store.registry import CORE_DECODER_REGISTRY, CORE_ENCODER_REGISTRY

from bokern.acquisition import GPUCB, Uncertainty, register_input_constructors
from bokern.ax.acquisition import CLASSES
from bokern.ax.feasible import FeasibleAcquisition
from bokern.ax.node import StructureNode
from bokern.models import MixtureGP, StructuredGP


def register() -> None:
    """Registers models, acquisitions and nodes for JSON and SQL storage.

    Runs when ``bokern.ax`` is imported, which is needed in any process that loads an
    experiment made with bokern. Doing it again changes nothing.
    """
    for model in (StructuredGP, MixtureGP):
        register_model(model)
    for acquisition in CLASSES.values():
        register_acquisition_function(acquisition)
    register_acquisition_function(GPUCB)
    register_acquisition_function(Uncertainty)
    register_acquisition(FeasibleAcquisition)
    register_input_constructors()
    CORE_ENCODER_REGISTRY[StructureNode] = StructureNode.to_json
    CORE_DECODER_REGISTRY[StructureNode.__name__] = StructureNode
