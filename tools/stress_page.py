"""Write what ``make stress`` has found into docs/benchmarks.md: tries and failures by kind.

python tools/stress_page.py RESULTS [PAGE]
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.pages import DOCS, listed, write_sections  # noqa: E402


def describe(results: Path) -> str:
    """Return tries and failures of the last run in a sentence."""
    tries: dict[str, int] = defaultdict(int)
    failures, seconds = 0, 0.0
    for line in results.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        tries[record["area"].partition(":")[0]] += record["tries"]
        failures += record["failures"]
        seconds += record["seconds"]
    parts = listed([f"{area} ({n:,})" for area, n in sorted(tries.items())])
    return (
        f"The last run made {sum(tries.values()):,} tries in {seconds / 60:.0f} minutes, of which "
        f"{failures} failed: {parts}."
    )


def main(results: str, page: str = str(DOCS / "benchmarks.md")) -> None:
    """Write the section of the page."""
    write_sections(Path(page), {"stress": describe(Path(results))})


if __name__ == "__main__":
    main(*sys.argv[1:])
