"""How often something is tried in each area, how often it fails, and where that is written.

Few tries in the default suite; with ``HEDGECLIPPER_STRESS``, the path of a file, many, and lines
for each area in that file, of which ``tools/stress_page.py`` makes a table on a page.
"""

import json
import os
import signal
import traceback
from contextlib import contextmanager
from pathlib import Path

RESULTS = os.environ.get("HEDGECLIPPER_STRESS")
LONGEST = 60  # seconds that a single try may take, on a slow machine too
WITH_SERVER = 120  # and one that starts a server
FAILURES_TO_SHOW = 5


def tries(few, many):
    """Return how often to try: few times by default, many under ``make stress``."""
    return many if RESULTS else few


class HangError(BaseException):
    """A try that took too long; no ``except Exception`` of what is tried takes it for an error."""


class Tally:
    """Counts the tries of an area in a ``with`` block, and fails at its end if one has failed.

    A line is written at the beginning, too: an area whose process crashes has no other one.
    """

    def __init__(self, area):
        self.area, self.n_tries, self.failures = area, 0, []

    def __enter__(self):
        self._record(has_begun=True)
        return self

    def _record(self, **values):
        if RESULTS:
            with Path(RESULTS).open("a") as file:
                file.write(json.dumps({"area": self.area, **values}) + "\n")

    def __exit__(self, kind, error, trace):
        if error is not None:
            self.failures.append(f"{type(error).__name__}: {error}"[:500])
        self._record(tries=self.n_tries, failures=len(self.failures))
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
        except (Exception, HangError) as error:
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
        raise HangError(f"took more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
