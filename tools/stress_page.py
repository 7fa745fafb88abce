"""Write what ``make stress`` has found into docs/benchmarks.md: tries and failures by kind.

python tools/stress_page.py RESULTS [PAGE]
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.pages import DOCS, markdown_table, write_sections  # noqa: E402


def describe(results: Path) -> str:
    """Return tries by area of the last run, and a table of the areas that failed.

    An area that has begun and not ended took its process with it: that is a failure, too.
    """
    tries: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    running: Counter[str] = Counter()
    for line in results.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        area = record["area"].partition(":")[0]
        tries[area] += record.get("tries", 0)
        failures[area] += record.get("failures", 0)
        running[area] += 1 if "has_begun" in record else -1
    failures.update({area: max(n, 0) for area, n in running.items()})
    areas = "; ".join(f"{area}: {n:,}" for area, n in tries.most_common())
    told = f"{tries.total():,} tries, {failures.total():,} failures. Tries by area: {areas}."
    rows = [[area, f"{tries[area]:,}", f"{n:,}"] for area, n in sorted(failures.items()) if n]
    return f"{told}\n\n{markdown_table([['area', 'tries', 'failures'], *rows])}" if rows else told


def main(results: str, page: str = str(DOCS / "benchmarks.md")) -> None:
    """Write the section of the page."""
    write_sections(Path(page), {"stress": describe(Path(results))})


if __name__ == "__main__":
    main(*sys.argv[1:])
