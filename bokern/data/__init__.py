"""Data that ship with the package, as paths to plain CSV files.

Where each file comes from, and under which licence, stands in the ``README.md`` of
this folder.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["airline_path", "co2_path"]


def airline_path() -> Path:
    """Monthly airline passengers, 1949 to 1960 (AirPassengers).

    Returns:
        The path to a CSV file of 144 rows with the columns ``month`` (text),
        ``decimal_year`` (the middle of the month) and ``passengers_thousands``.
    """
    return Path(__file__).with_name("airline.csv")


def co2_path() -> Path:
    """Monthly means of carbon dioxide in the air at Mauna Loa, 1958 to 2001.

    Returns:
        The path to a CSV file of 521 rows with the columns ``month`` (text),
        ``decimal_year`` (the middle of the month) and ``co2_ppm``; five months without
        a measurement are left out.
    """
    return Path(__file__).with_name("co2.csv")
