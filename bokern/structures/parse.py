"""Reads the one-line text of a structure, without evaluating anything."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from bokern.errors import BokernError, StructureError
from bokern.structures.base import REGISTRY, Structure
from bokern.structures.composite import Product, Sum
from bokern.views import groups
from bokern.views.groups import Group

MAX_LENGTH = 4000

_MAKERS: dict[str, Callable[..., Group]] = {
    "permutations": groups.permutations,
    "cyclic": groups.cyclic,
    "swap": groups.swap,
    "sign_flips": groups.sign_flips,
    "reflections": groups.reflections,
    "product": groups.product,
    "closure": groups.closure,
}


def parse(text: str) -> Structure:
    """The structure that a line of text stands for.

    Args:
        text: Such as ``Matern(2.5) + Periodic() * RBF(columns=['x'])``.

    Raises:
        StructureError: If it is not text, is malformed, or names something unknown.
        GroupError: If a group in it is malformed.
    """
    if not isinstance(text, str):
        raise StructureError(
            f"a structure's text is a string, got {type(text).__name__}"
        )
    if len(text) > MAX_LENGTH:
        raise StructureError(
            f"a structure's text has at most {MAX_LENGTH} characters, got {len(text)}"
        )
    try:
        tree = ast.parse(text.strip(), mode="eval")
        result = _read(tree.body, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, BokernError):
            raise
        raise StructureError(
            f"cannot read the structure {text!r:.120}: expected text such as "
            "'Matern(2.5) + Periodic()'"
        ) from error
    except TypeError as error:
        reason = str(error).replace(".__init__()", "()")
        raise StructureError(
            f"cannot read the structure {text!r:.120}: {reason}"
        ) from error
    if not isinstance(result, Structure):
        raise StructureError(
            f"{text!r:.120} is not a structure: expected one of {_known()}"
        )
    return result.canonical()


def as_structure(value: Structure | str) -> Structure:
    """A structure from itself or from its text, in canonical form.

    Raises:
        StructureError: If it is neither.
    """
    if isinstance(value, Structure):
        return value.canonical()
    if isinstance(value, str):
        return parse(value)
    raise StructureError(
        "expected a structure such as Matern(2.5), or its text, got "
        f"{value!r:.60} of type {type(value).__name__}"
    )


def _known() -> str:
    return ", ".join(name for name in REGISTRY if name not in ("Sum", "Product"))


def _read(node: ast.expr, text: str) -> Any:
    match node:
        case ast.Constant(value=str() | int() | float() | bool() as value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_read(item, text) for item in items]
        case ast.UnaryOp(
            op=ast.USub(), operand=ast.Constant(value=int() | float() as value)
        ):
            return -value
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() as op, right=right):
            a, b = _read(left, text), _read(right, text)
            if isinstance(a, Group) and isinstance(b, Group):
                return groups.product(a, b)
            if not (isinstance(a, Structure) and isinstance(b, Structure)):
                raise StructureError(
                    f"only structures are added and multiplied: {text!r}"
                )
            kind = Sum if isinstance(op, ast.Add) else Product
            return kind((a, b)).canonical()
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
            values = [_read(argument, text) for argument in arguments]
            named = {str(k.arg): _read(k.value, text) for k in keywords}
            return _make(name)(*values, **named)
        case ast.Name(id=name):
            _make(name)
            raise StructureError(f"{name!r} lacks its brackets: write {name}()")
    raise StructureError(
        f"{ast.unparse(node)!r:.60} has no place in a structure: {text!r:.120}"
    )


def _make(name: str) -> Callable[..., Any]:
    maker = _MAKERS.get(name) or REGISTRY.get(name)
    if maker is None or name in ("Sum", "Product"):
        raise StructureError(
            f"unknown structure or group {name!r}: expected one of {_known()}, or of "
            f"{', '.join(_MAKERS)}"
        )
    return maker
