"""Where a candidate comes from."""

from __future__ import annotations

from ax.core.generator_run import GeneratorRun

from bokern.ax import record_of
from bokern.ax.choice import AUTO, FALLBACK


def source_of(run: GeneratorRun | None, metric: str) -> tuple[str, str]:
    """Generator and structures behind a candidate.

    Returns:
        ``initial`` or ``sobol`` with no structure; else the structure of largest
        weight, or ``symmetry test`` if the candidate tests its symmetry, and the text
        of all of them with their weights.
    """
    if run is None:
        return "initial", ""
    record = record_of(run)
    if record is None or record.used == "sobol":
        return "sobol", ""
    if record.used == "matern":
        return str(FALLBACK), str(FALLBACK)
    chosen = record.chosen.get(metric) or record.incumbents.get(metric)
    if not chosen:
        first = record.offered[0]
        chosen = {str(FALLBACK) if first == AUTO else first: 1.0}
    heaviest = max(chosen, key=lambda text: chosen[text])
    generator = "symmetry test" if record.tests else heaviest
    if len(chosen) == 1:
        return generator, heaviest
    ranked = sorted(chosen.items(), key=lambda item: -item[1])
    return generator, "; ".join(f"{weight:.2f} {text}" for text, weight in ranked)
