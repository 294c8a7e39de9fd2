"""Formulas in stored Ax experiments, checked before Ax hands them to an evaluator.

Ax reads objectives, constraints and derived parameters by SymPy, which evaluates them
as Python. Only arithmetic on names and numbers is let through.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from typing import Any

from bokern.errors import StorageError

LONGEST = 10_000
"""Characters of a formula."""

FORMULAS = frozenset(
    {"expression", "expression_str", "inequality", "equality"}
    | {"lower_name", "upper_name", "lhs", "rhs"}
)
"""Entries of Ax's documents that become formulas."""

NAMES = frozenset(
    {"parameter_names", "metric_names", "input_metric_names", "constraint_dict"}
)
"""Entries whose members or keys are put into formulas."""

ALPHABET = re.compile(r"[\w\s+\-*/().,:|@~<>=%]*")

FUNCTIONS = frozenset({"log", "exp", "sqrt", "abs", "Abs", "sin", "cos", "tan"})

CALL = re.compile(r"([^\W\d]\w*)\s*\(\s*(\w+\s*\))?")


def check_formulas(document: Any) -> None:
    """Refuses a document with a formula that is more than arithmetic.

    Args:
        document: A snapshot of Ax's, as JSON.

    Raises:
        StorageError: If there is one; it names the formula.
    """
    for text in _formulas(document):
        if not isinstance(text, str):
            continue
        why = _why_not(text)
        if why:
            raise StorageError(
                f"the snapshot has the formula {text!r:.120}, which {why}: only sums "
                "and products of names and numbers are read, since Ax evaluates them "
                "as code; mend the file, or take it from where it can be trusted"
            )


def _formulas(document: Any) -> Iterator[Any]:
    """All that Ax would put into a formula; without recursion, files may be deep."""
    waiting = [document]
    while waiting:
        found = waiting.pop()
        if isinstance(found, list):
            waiting += found
        if not isinstance(found, dict):
            continue
        waiting += found.values()
        kind = found.get("__type")
        if isinstance(kind, str) and "Metric" in kind:
            yield found.get("name")
        for key, value in found.items():
            if key in FORMULAS:
                yield value
            elif (key in NAMES and isinstance(value, list)) or (
                key == "constraint_dict" and isinstance(value, dict)
            ):
                yield from value


def _why_not(text: str) -> str:
    """Why a text is no arithmetic; empty if it is."""
    if len(text) > LONGEST:
        return f"is longer than {LONGEST} characters"
    if not ALPHABET.fullmatch(text):
        return "has characters that no formula has"
    if "__" in text or "**" in text or re.search(r"\blambda\b", text):
        return "has '__', '**' or 'lambda'"
    if re.search(r"\)\s*[.(\w]", text):
        return "uses the result of a call or a bracket as a function or an object"
    for match in CALL.finditer(text):
        name, argument = match.groups()
        # A name may end in a bracket, such as "latency(p50)".
        plain = argument is not None and not hasattr(builtins, name)
        if name not in FUNCTIONS and not plain:
            return f"calls {name!r}"
    return ""
