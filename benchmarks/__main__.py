"""``python -m benchmarks``: optimise, report, evidence, identify, alarms and more."""

from __future__ import annotations

import argparse
import os
import sys

# One thread a process, in the workers too: set before anything loads torch.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

from benchmarks import (  # noqa: E402
    airline,
    alarms,
    evidence,
    failures,
    identify,
    kalman,
    optimise,
    regression,
    surrogates,
    timeseries,
    toys,
    uci,
)


def main(argv: list[str] | None = None) -> int:
    """Parses the command line and runs one subcommand."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Benchmarks of bokern."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for module in (
        optimise,
        evidence,
        identify,
        alarms,
        airline,
        failures,
        regression,
        surrogates,
        timeseries,
        uci,
        toys,
        kalman,
    ):
        module.add_commands(commands)
    arguments = parser.parse_args(argv)
    arguments.run(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
