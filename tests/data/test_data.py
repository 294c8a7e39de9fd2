from __future__ import annotations

import csv
import subprocess
import sys

import pytest

from bokern.data import airline_path, co2_path


def test_airline_has_its_144_months():
    with airline_path().open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 144
    assert rows[0] == {
        "month": "1949-01",
        "decimal_year": rows[0]["decimal_year"],
        "passengers_thousands": "112",
    }
    assert rows[-1]["month"] == "1960-12"
    assert rows[-1]["passengers_thousands"] == "432"
    assert sum(int(r["passengers_thousands"]) for r in rows) == 40363


def test_co2_has_a_mean_for_each_month_with_a_measurement():
    with co2_path().open(newline="") as file:
        rows = list(csv.DictReader(file))
    months = [row["month"] for row in rows]
    absent = {"1958-06", "1958-10", "1964-02", "1964-03", "1964-04"}
    every = {f"{y}-{m:02}" for y in range(1958, 2002) for m in range(1, 13)}
    assert set(months) == every - absent - {"1958-01", "1958-02"}
    assert months == sorted(months)
    for row in rows:
        year, month = map(int, row["month"].split("-"))
        middle = year + (month - 0.5) / 12
        assert float(row["decimal_year"]) == pytest.approx(middle, abs=1e-4)
    assert float(rows[0]["co2_ppm"]) == 316.1
    assert min(float(row["co2_ppm"]) for row in rows) > 312
    assert max(float(row["co2_ppm"]) for row in rows) < 375


def test_the_path_costs_no_heavy_import():
    code = (
        "import sys, bokern.data; bokern.data.airline_path(); "
        "assert not {'pandas', 'ax', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
