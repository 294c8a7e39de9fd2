from __future__ import annotations

import csv
import subprocess
import sys

from bokern.data import airline_path


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


def test_the_path_costs_no_heavy_import():
    code = (
        "import sys, bokern.data; bokern.data.airline_path(); "
        "assert not {'pandas', 'ax', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
