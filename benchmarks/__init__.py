"""Benchmarks that measure what the README claims: ``python -m benchmarks --help``."""
