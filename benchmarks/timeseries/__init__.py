"""Thirteen time series: interpolation and extrapolation beside published figures."""

from benchmarks.timeseries.commands import add_commands

__all__ = ["add_commands"]
