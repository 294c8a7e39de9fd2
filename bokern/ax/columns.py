"""Structures over the parameters of an Ax search space.

Ax reorders, scales and one-hot encodes columns before a model sees them, so a structure
travels with the *names* of its parameters, and a group is checked against the declared
parameters rather than against transformed columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ax.core.parameter import ChoiceParameter, Parameter, RangeParameter
from ax.core.search_space import SearchSpace

from bokern.errors import ColumnError, GroupError
from bokern.structures import Group, KernelSpace, Structure
from bokern.views.columns import resolve_column

PERMUTING = ("permutations", "cyclic", "swap")


def in_space(structure: Structure, space: SearchSpace) -> Structure:
    """The structure with its columns given by the names of parameters.

    Its kernel is built once for the declared parameters, so that whatever limits it,
    such as the order of a group, is met here and not after a number of trials.

    Args:
        structure: Columns by name, or by number in the order of the parameters.
        space: The declared search space.

    Raises:
        ColumnError: If a column does not exist or is an unordered choice.
        GroupError: If a group does not map the declared space to itself, or is too
            large for its kernel.
    """
    named = _named(structure, space)
    names = list(space.parameters)
    named.resolve(names).kernel(KernelSpace(len(names)))
    return named


def _named(structure: Structure, space: SearchSpace) -> Structure:
    names = list(space.parameters)
    parts = [_named(child, space) for child in structure.children]
    node: Any = structure.with_children(parts) if parts else structure
    columns = getattr(node, "columns", ())
    if columns:
        node = replace(node, columns=tuple(_name(c, space) for c in columns))
    group = getattr(node, "group", None)
    if group is not None:
        node = replace(node, group=_named_group(group, names, space))
    return node


def _name(column: str | int, space: SearchSpace) -> str:
    names = list(space.parameters)
    name = names[resolve_column(column, names)]
    if _is_unordered(space.parameters[name]):
        raise ColumnError(
            f"parameter {name!r} is an unordered choice, which becomes several "
            "columns, so a structure cannot name it: leave it out of columns=[...], or "
            "declare its values ordered"
        )
    return name


def _named_group(group: Group, names: list[str], space: SearchSpace) -> Group:
    if group.factors:
        factors = tuple(_named_group(f, names, space) for f in group.factors)
        return replace(group, factors=factors)
    columns = tuple(_name(c, space) for c in group.resolve(names).columns)
    named = replace(group, columns=columns)
    parameters = [space.parameters[column] for column in columns]
    if group.kind in PERMUTING:
        _check_interchangeable(named, parameters)
    elif group.kind == "sign_flips":
        _check_symmetric(named, parameters)
    return named


def _check_interchangeable(group: Group, parameters: list[Parameter]) -> None:
    first, *others = parameters
    for other in others:
        if describe(other) != describe(first):
            raise GroupError(
                f"{group!r} interchanges {first.name!r} ({describe(first)}) and "
                f"{other.name!r} ({describe(other)}): parameters that a group "
                "interchanges need the same type, bounds and scale; declare them alike"
            )


def _check_symmetric(group: Group, parameters: list[Parameter]) -> None:
    for p in parameters:
        symmetric = (
            isinstance(p, RangeParameter)
            and not p.log_scale
            and abs(p.lower + p.upper) <= 1e-9 * (p.upper - p.lower)
        )
        if not symmetric:
            raise GroupError(
                f"{group!r} flips the sign of {p.name!r} ({describe(p)}), which needs "
                "bounds symmetric about 0 on a linear scale: declare such bounds, or "
                "use reflections() about the box's centre"
            )


def describe(parameter: Parameter) -> str:
    """Type, bounds and scale; equal for parameters that may be interchanged."""
    kind = parameter.parameter_type.name.lower()
    match parameter:
        case RangeParameter():
            scale = " on a log scale" if parameter.log_scale else ""
            digits = parameter.digits
            step = "" if digits is None else f" rounded to {digits} digits"
            return f"{kind} in [{parameter.lower:g}, {parameter.upper:g}]{scale}{step}"
        case ChoiceParameter():
            return f"{kind}, one of {list(parameter.values)}"
    return f"{kind}, {type(parameter).__name__}"


def _is_unordered(parameter: Parameter) -> bool:
    return isinstance(parameter, ChoiceParameter) and not parameter.is_ordered
