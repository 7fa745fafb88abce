"""How often something is tried in each area, how often it fails, and where that is written.

Few tries in the default suite; with ``HEDGECLIPPER_STRESS``, the path of a file, many, and a line
for each area in that file, of which ``tools/stress_page.py`` makes a page.
"""

import json
import os
import signal
import time
import traceback
from contextlib import contextmanager
from pathlib import Path

RESULTS = os.environ.get("HEDGECLIPPER_STRESS")
LONGEST = 20  # seconds that a single try may take
WITH_SERVER = 120  # and one that starts a server
FAILURES_TO_SHOW = 5


def tries(few, many):
    """Return how often to try: few times by default, many under ``make stress``."""
    return many if RESULTS else few


class Tally:
    """Counts the tries of an area in a ``with`` block, and fails at its end if one has failed."""

    def __init__(self, area):
        self.area, self.n_tries, self.failures = area, 0, []

    def __enter__(self):
        self.started = time.monotonic()
        return self

    def __exit__(self, kind, error, trace):
        if error is not None:
            self.failures.append(f"{type(error).__name__}: {error}"[:500])
        seconds = round(time.monotonic() - self.started, 1)
        record = {"area": self.area, "tries": self.n_tries, "failures": len(self.failures)}
        if RESULTS:
            with Path(RESULTS).open("a") as file:
                file.write(json.dumps({**record, "seconds": seconds}) + "\n")
        if error is None and self.failures:
            shown = "\n".join(self.failures[:FAILURES_TO_SHOW])
            raise AssertionError(f"{len(self.failures)} of {self.n_tries} tries failed:\n{shown}")

    @contextmanager
    def attempt(self, what, seconds=LONGEST):
        """Count a try, and note it if it fails or takes longer than this."""
        self.n_tries += 1
        try:
            with in_time(seconds):
                yield
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{place.filename}:{place.lineno}"
            self.failures.append(f"{what}: {type(error).__name__}: {error} ({where})"[:500])


@contextmanager
def in_time(seconds=LONGEST):
    """Raise if the block takes longer than this: a hang is a failure. Windows has no alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(number, frame):
        raise TimeoutError(f"took more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
