"""Comparisons as JSON documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bokern.errors import BokernError, StorageError
from bokern.evidence import Evidence
from bokern.fitting import FitResult
from bokern.inputs import Observations, read_observations
from bokern.selection.attempt import Attempt
from bokern.selection.candidate import Candidate, Settings
from bokern.structures import Structure

SCHEMA_VERSION = 1
MAX_FILE_BYTES = 50_000_000
DTYPES = {str(t).removeprefix("torch."): t for t in (torch.float32, torch.float64)}


@dataclass(frozen=True)
class Contents:
    """All that a stored comparison holds.

    Args:
        candidates: The fitted structures.
        data: The checked data, raw units.
        settings: How they were fitted.
        failures: Text and reason of structures that could not be fitted.
        remarks: What was assumed or left out, in sentences.
        trace: Every structure that a search looked at.
    """

    candidates: Sequence[Candidate]
    data: Observations
    settings: Settings
    failures: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...] = ()
    trace: tuple[Attempt, ...] = ()


def dumps(contents: Contents) -> str:
    """The text that `read` reads back."""
    document = {
        "kind": "bokern.Comparison",
        "version": SCHEMA_VERSION,
        "settings": asdict(contents.settings),
        "data": observations_to_json(contents.data),
        "candidates": [candidate_to_json(c) for c in contents.candidates],
        "failures": [list(f) for f in contents.failures],
        "remarks": list(contents.remarks),
        "trace": [asdict(attempt) for attempt in contents.trace],
    }
    return json.dumps(document)


def read(source: str | Path) -> Contents:
    """Reads what `dumps` wrote, from its text or a file of it.

    Raises:
        StorageError: If it cannot be read or is something else.
    """
    document = _load(source)
    try:
        if not document["candidates"]:
            raise ValueError("its candidates: there are none")
        return Contents(
            [candidate_from_json(c) for c in document["candidates"]],
            observations_from_json(document["data"]),
            Settings(**document["settings"]),
            tuple((f[0], f[1]) for f in document["failures"]),
            tuple(map(str, document.get("remarks", ()))),
            tuple(Attempt.from_json(a) for a in document.get("trace", ())),
        )
    except (KeyError, TypeError, IndexError, ValueError, BokernError) as error:
        raise StorageError(
            f"the stored comparison lacks or garbles {error}: it was cut short or "
            "changed by hand"
        ) from error


def candidate_to_json(candidate: Candidate) -> dict[str, Any]:
    """A document that `candidate_from_json` reads back."""
    return {
        "structure": candidate.structure.to_json(),
        "evidence": candidate.evidence.to_json(),
        "fit": asdict(candidate.fit),
        "hyperparameters": [list(row) for row in candidate.hyperparameters],
    }


def candidate_from_json(document: dict[str, Any]) -> Candidate:
    """Reads what `candidate_to_json` wrote."""
    return Candidate(
        Structure.from_json(document["structure"]),
        Evidence.from_json(document["evidence"]),
        _fit(document["fit"]),
        tuple((row[0], row[1], row[2]) for row in document["hyperparameters"]),
    )


def _fit(document: dict[str, Any]) -> FitResult:
    theta = tuple(float(value) for value in document["theta"])
    return FitResult(
        **document | {"theta": theta, "at_bound": tuple(document["at_bound"])}
    )


def observations_to_json(data: Observations) -> dict[str, Any]:
    """A document that `observations_from_json` reads back."""
    return {
        "X": data.X.tolist(),
        "y": data.y.tolist(),
        "bounds": data.bounds.tolist(),
        "noise": None if data.noise is None else data.noise.tolist(),
        "column_names": list(data.column_names),
        "target_name": data.target_name,
        "notes": list(data.notes),
        "dtype": str(data.X.dtype).removeprefix("torch."),
    }


def observations_from_json(document: dict[str, Any]) -> Observations:
    """Reads what `observations_to_json` wrote, and checks it as new data are."""
    dtype = DTYPES[document["dtype"]]

    def tensor(values: Any) -> Tensor:
        return torch.tensor(values, dtype=dtype)

    noise = document["noise"]
    data = read_observations(
        tensor(document["X"]),
        tensor(document["y"]),
        tensor(document["bounds"]),
        None if noise is None else tensor(noise),
    )
    if len(document["column_names"]) != data.X.shape[1]:
        raise ValueError("its column names: as many as columns are expected")
    return Observations(
        data.X,
        data.y,
        data.bounds,
        data.noise,
        tuple(document["column_names"]),
        document["target_name"],
        tuple(document["notes"]),
    )


def _load(source: str | Path) -> dict[str, Any]:
    text = str(source)
    if not text.lstrip().startswith("{"):
        try:
            if Path(source).stat().st_size > MAX_FILE_BYTES:
                raise StorageError(f"{text!r} is larger than {MAX_FILE_BYTES} bytes")
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise StorageError(f"cannot read {str(source)!r}: {error}") from error
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"not a stored comparison: {error}") from error
    if not isinstance(document, dict) or document.get("kind") != "bokern.Comparison":
        raise StorageError(
            "not a stored comparison: expected an object of kind 'bokern.Comparison'"
        )
    if document.get("version") != SCHEMA_VERSION:
        raise StorageError(
            f"a comparison of version {document.get('version')!r} cannot be read: this "
            f"release knows version {SCHEMA_VERSION}; update bokern"
        )
    return document
