"""What was measured beside what is claimed, as markdown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.tasks import Record


@dataclass(frozen=True)
class Row:
    """One claim.

    Args:
        claim: What is claimed.
        measured: What came out.
        required: What it takes.
        met: Whether it is enough; None if that cannot be told yet.
    """

    claim: str
    measured: str
    required: str
    met: bool | None

    @classmethod
    def of_share(
        cls, claim: str, count: int, runs: int, required: float, at_most: bool = False
    ) -> Row:
        """A share of runs that is required; a failed run never counts for the claim.

        Args:
            claim: What is counted.
            count: In how many runs it holds.
            runs: All runs, failed ones included.
            required: The share that it takes.
            at_most: Whether that is an upper limit.
        """
        share = count / runs if runs else float("nan")
        met = share <= required + 1e-9 if at_most else share >= required - 1e-9
        sign = "≤" if at_most else "≥"
        measured = f"{count} of {runs} ({share:.0%})" if runs else "no runs"
        return cls(claim, measured, f"{sign} {required:.0%}", met if runs else None)


def claims_table(rows: Iterable[Row]) -> str:
    """A markdown table of claims."""
    words = {True: "yes", False: "NO", None: ""}
    lines = ["| claim | measured | required | met |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {row.claim} | {row.measured} | {row.required} | {words[row.met]} |"
        for row in rows
    ]
    return "\n".join(lines)


def failures(records: Iterable[Record]) -> str:
    """A line on the runs that failed, and on the releases used."""
    records = list(records)
    failed = [record for record in records if record.get("error")]
    used = {tuple(sorted(record["versions"].items())) for record in records}
    lines = [f"{len(failed)} of {len(records)} runs failed."]
    if failed:
        last = str(failed[0]["error"]).strip().splitlines()[-1]
        lines[0] += f" The first, {failed[0]['key']}: {last}"
    lines += [", ".join(f"{k} {v}" for k, v in releases) for releases in sorted(used)]
    return "\n\n".join(lines)
