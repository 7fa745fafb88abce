"""Doctests: numbers within sentences may differ slightly from those on the page.

Sentences such as those of ``describe()`` count rows and errors. With other versions of the
libraries these counts differ a little, and the page is as true as before. ``tools/examples.py``
writes them anew.
"""

import doctest
import re

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
WORDS = 6  # a sentence has more words than this
check_exactly = doctest.OutputChecker.check_output


def is_near(want: str, got: str) -> bool:
    """Return whether two sentences have the same words, and numbers that differ by little."""
    want, got = (" ".join(text.split()) for text in (want, got))
    if NUMBER.sub("#", want) != NUMBER.sub("#", got) or len(re.findall("[a-z]+", want)) < WORDS:
        return False
    pairs = zip(NUMBER.findall(want), NUMBER.findall(got), strict=True)
    values = [[float(text.replace(",", "")) for text in pair] for pair in pairs]
    return all(abs(a - b) <= 0.15 * max(a, b) + 1 for a, b in values)


def check_output(checker, want, got, optionflags):
    """Compare as usual, and sentences by ``is_near``."""
    return check_exactly(checker, want, got, optionflags) or is_near(want, got)


doctest.OutputChecker.check_output = check_output
