"""Write docs/stress.md from the results of ``make stress``: tries and failures by area."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections import defaultdict
from datetime import date
from pathlib import Path

HEAD = """# How we try to break it

`make stress` runs the package on generated, damaged and hostile input, kills processes at
random, lets two of them write one file, and tests guarantees where they are hardest to keep.
Every try must end in a valid result (probabilities in [0, 1] that sum to 1,
`0 <= error_lower <= error_upper <= 1`, whole files) or in an error that says what is wrong and
what to do. Anything else is a failure, a crash of the process and a try of more than 20 seconds
(120 with the start of a server) included. A part of it runs with every test of the package, and
each failure that was ever found is kept as a test.

| area | tries | failures | seconds |
|---|---|---|---|
"""
FOOT = """
{when}, commit {commit}, Python {python}. Written by `tools/stress_page.py`.

- **library**: rows and votes as arrays, sparse matrices, frames and files, with NaN,
  infinities, constants, duplicates, extreme values, one class, no rows and strange names,
  through functions and estimators of the public interface.
- **files through the command line**: flipped bits, cuts, holes, NUL bytes, other newlines,
  very wide and very long lines in CSV, Parquet and gzip: one line of error
  and nothing written, or a whole output.
- **model files**: damaged ones have another checksum and are refused. In hostile ones an
  array or the description is changed and the checksum is made again: they are refused,
  predict probabilities, or raise an error, and none ends the process.
- **kills**: SIGKILL or SIGTERM at a random time, of `fit` and `predict`, and of Dask
  workers during a fit: old files stay whole, new ones are whole or absent, though a
  hidden file may be left, and a fit on Dask gives the same predictions.
- **determinism**: threads, memory layout, batches, storage and source change nothing,
  beyond 1e-6 where sums come in another order or in float32. Another order of the unlabeled
  rows changes probabilities by at most 0.02 on the data of this test.
- **worst cases of a whole file**: pools in which more errors are left than is allowed, where it
  hurts most, tested many times with a number of labels that is fixed, at every look, and in
  attempts. A try fails if promises are broken significantly more often than they say.
- **audit, finish and records of samples**: damaged files as above. In forged records numbers,
  rows and digests are others: a guarantee comes from the rows of the draw alone.
- **the label server**: wrong methods, hosts, origins, cookies and tokens, huge and binary
  bodies, clients that go away: nothing is saved or shown without the cookie, and no request is
  an error of the server. No label that was confirmed is lost by a kill or on a full disk, and
  a second server on a session is refused.
- **sessions**: annotators who contradict themselves, clocks that jump, damaged lines, and lines
  forged with valid checks: refused, or labels that are in the file and a proof computed again.
- **leaks**: memory, open files and threads do not grow over many fits.

What loading a model from a stranger does, and does not do, is in SECURITY.md.
"""


def main(results: Path, page: Path) -> None:
    """Add up the lines of the results by area, and write the page."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0, 0, 0.0])
    for line in results.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for place, name in enumerate(("tries", "failures", "seconds")):
            sums[record["area"]][place] += record[name]
    sums["all"] = [sum(column) for column in zip(*sums.values(), strict=True)]
    rows = [
        f"| {area} | {n_tries:,.0f} | {n_failures:,.0f} | {seconds:,.0f} |\n"
        for area, (n_tries, n_failures, seconds) in sums.items()
    ]
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    when = f"{date.today():%B %d, %Y}"
    foot = FOOT.format(when=when, commit=commit or "unknown", python=platform.python_version())
    page.write_text(HEAD + "".join(rows) + foot, encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
