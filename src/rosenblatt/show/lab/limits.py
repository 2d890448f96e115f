"""Limits: how much one page may ask for."""

from __future__ import annotations

from typing import Any

POINTS = 1000
LARGEST = 1e6  # of a coordinate
SMALLEST = 1e-100  # of one that is not 0: the squares of smaller ones are lost
LEAST_ETA = 1e-6
NAME = 60  # characters
SEGMENTS = 50
PASSES = 1000
VISITS = 200_000  # of a whole run
UPDATES = 10_000  # which is also what a record holds
STEPS = 512  # of one answer
PLACES = 400  # of a chart
RULE = 100  # characters
BODY = 512 * 1024
TABLE = 2 * 1024 * 1024
TABLE_ROWS = 50_000
TABLE_COLUMNS = 200
TABLE_FIELD = 1000  # characters
SECONDS = 5.0  # of a proof
PROOF = 20_000  # characters of one in full


def told() -> dict[str, Any]:
    """What the page should know beforehand."""
    return {
        "points": POINTS, "largest": LARGEST, "name": NAME, "segments": SEGMENTS,
        "passes": PASSES, "visits": VISITS, "updates": UPDATES, "steps": STEPS,
        "places": PLACES, "body": BODY, "table": TABLE, "table_rows": TABLE_ROWS,
        "table_columns": TABLE_COLUMNS,
    }  # fmt: skip
