"""Measurements, printed as tables; run one with ``python -m benchmarks.<name>``."""
