"""A report of a fitted model: one HTML file that needs nothing but a browser."""

from hedgeclipper.report.api import write_report

__all__ = ["write_report"]
