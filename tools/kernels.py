"""Run Python under other BLAS kernels, CPU features and numbers of threads.

    python tools/kernels.py -m pytest ...

Each of the settings below is a run of its own; those that this machine cannot have are skipped. All
of them run even if one fails, and the exit code is 0 only if none does and one has passed.
"""

from __future__ import annotations

import os
import subprocess
import sys

CORE = "OPENBLAS_CORETYPE"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
SETTINGS = [
    {CORE: "Nehalem", "NUMBA_CPU_NAME": "generic", **dict.fromkeys(THREADS, "1")},
    {CORE: "Haswell", **dict.fromkeys(THREADS, "2")},
    {CORE: "Zen"},
]
PROBE = """
import numpy, threadpoolctl
ones = numpy.ones((64, 64))
ones @ ones
print(threadpoolctl.threadpool_info()[0].get("architecture"))
"""


def kernel_of(setting: dict[str, str]) -> str:
    """Return the BLAS kernel that really runs under a setting; none if the CPU cannot run it."""
    result = subprocess.run(
        [sys.executable, "-c", PROBE], env={**os.environ, **setting}, capture_output=True, text=True
    )
    return result.stdout.strip() if result.returncode == 0 else "none"


def run(setting: dict[str, str], arguments: list[str]) -> str:
    """Return what came of a run: passed, failed or skipped."""
    kernel = kernel_of(setting)
    if kernel != setting[CORE]:
        return f"skipped (here it runs the kernel {kernel})"
    print(f"\n== {describe(setting)}", flush=True)
    result = subprocess.run([sys.executable, *arguments], env={**os.environ, **setting})
    return "passed" if result.returncode == 0 else f"failed (exit code {result.returncode})"


def describe(setting: dict[str, str]) -> str:
    """Return a setting as one would type it."""
    return " ".join(f"{name}={value}" for name, value in setting.items())


def main(arguments: list[str]) -> int:
    """Run the arguments under each setting and print what came of it."""
    outcomes = {describe(setting): run(setting, arguments) for setting in SETTINGS}
    print()
    for setting, outcome in outcomes.items():
        print(f"{outcome}: {setting}")
    has_failed = any(outcome.startswith("failed") for outcome in outcomes.values())
    return int(has_failed or "passed" not in outcomes.values())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
