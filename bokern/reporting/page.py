"""One self-contained HTML page of one or more results."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly import graph_objects as go
from plotly.offline import get_plotlyjs

from bokern.errors import InputError, StorageError
from bokern.reporting import provenance
from bokern.reporting.comparison_section import ComparisonSection, comparison_section
from bokern.reporting.optimization_section import (
    OptimizationSection,
    optimization_section,
)
from bokern.reporting.results import ComparisonLike, OptimizationLike, StudyLike

__all__ = ["report"]


def report(
    *results: ComparisonLike | OptimizationLike | StudyLike | str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    title: str | None = None,
) -> Path:
    """Write results as one HTML page that needs no network.

    It holds the ranking with its flags, the priors, the figures with captions, and
    where the numbers come from; it prints, and follows a light or dark screen.

    Args:
        results: Comparisons, optimisations and studies, in the order in which they
            appear; the last may be the path.
        path: Where to write, ``report.html`` by default; an existing file is replaced
            once the page is complete.
        title: Of the page; by default it says whether it is of optimisations.

    Returns:
        The absolute path of the page.

    Raises:
        InputError: If there is no result, or something else was passed.
        StorageError: If the page cannot be written.
    """
    if path is None and results and isinstance(results[-1], str | os.PathLike):
        *results, path = results  # type: ignore[assignment]
    if not results:
        raise InputError(
            "expected at least one result, got none; pass what bokern.compare or "
            "bokern.minimize returns"
        )
    sections = [_section(result) for result in results]
    html = render(sections, title or _title(sections))
    return _write(html, Path("report.html" if path is None else path))


def _title(sections: list[ComparisonSection | OptimizationSection]) -> str:
    if all(isinstance(section, OptimizationSection) for section in sections):
        return "Optimisation report"
    return "Evidence for Gaussian-process structures"


def render(sections: list[ComparisonSection | OptimizationSection], title: str) -> str:
    """The page as text.

    Args:
        sections: What stands on it.
        title: Of the page.

    Returns:
        HTML with plotly's script inlined once. Every text is escaped, and the
        content policy lets only the page's own two scripts run.
    """
    environment = Environment(
        loader=PackageLoader("bokern.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["comparison"] = lambda part: isinstance(part, ComparisonSection)
    drawings = [drawing for part in sections for drawing in part.all_drawings]
    numbers = {id(drawing): n for n, drawing in enumerate(drawings, start=1)}
    environment.globals["number_of"] = lambda drawing: numbers[id(drawing)]
    environment.globals["source_of"] = _source
    draw = environment.loader.get_source(environment, "draw.js")[0]  # type: ignore[union-attr]
    style = environment.loader.get_source(environment, "report.css")[0]  # type: ignore[union-attr]
    scripts = [Markup(get_plotlyjs()), Markup(draw)]
    return environment.get_template("report.html").render(
        title=title,
        style=Markup(style),
        sections=sections,
        software=provenance.software(),
        scripts=scripts,
        allowed=[_allowance(script) for script in scripts],
    )


def _section(
    result: object,
) -> ComparisonSection | OptimizationSection:
    if isinstance(result, ComparisonLike):
        return comparison_section(result, f"Comparison: {result.target_name}")
    if isinstance(result, StudyLike):
        return optimization_section(result.result(), "Study")
    if isinstance(result, OptimizationLike):
        return optimization_section(result, "Optimisation")
    raise InputError(
        f"expected comparisons and optimisations, got {type(result).__name__}; pass "
        "what bokern.compare or bokern.minimize returns, and the path last"
    )


def _source(figure: go.Figure) -> Markup:
    """A figure as JSON that cannot end the element that holds it."""
    text = figure.to_json()
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _allowance(script: str) -> str:
    """The entry of a content policy that lets exactly this script run."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _write(html: str, path: Path) -> Path:
    """Write beside the target first, so that a page is whole or not there."""
    target = path.expanduser().absolute()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with open(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(html)
            os.chmod(name, 0o644)
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StorageError(
            f"expected a path where the report can be written, got '{target}' "
            f"({error.strerror or error}); choose a file in an existing folder"
        ) from error
    return target
