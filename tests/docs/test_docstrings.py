"""Sphinx can read every public docstring: what it would warn of, and ``make docs`` refuse."""

import inspect
import io
import re

import pytest

import hedgeclipper
from hedgeclipper import datasets
from hedgeclipper import io as sources

pytest.importorskip("numpydoc")
pytest.importorskip("sphinx")

from docutils.core import publish_doctree
from numpydoc.docscrape_sphinx import SphinxClassDoc, SphinxFunctionDoc

# known to Sphinx, not to docutils alone
OF_SPHINX = r"Unknown (?:interpreted text role|directive type)|No (?:role|directive) entry"


def public_things():
    for module in (hedgeclipper, sources, datasets):
        for name in module.__all__:
            thing = getattr(module, name)
            yield f"{module.__name__}.{name}", thing
            if inspect.isclass(thing):
                yield from methods_of(f"{module.__name__}.{name}", thing)


def methods_of(path, owner):
    for name, member in vars(owner).items():
        function = getattr(member, "fget", getattr(member, "__func__", member))
        if not name.startswith("_") and inspect.isfunction(function):
            yield f"{path}.{name}", function


def complaints(text):
    """Return the problems docutils finds in a text, except directives that only Sphinx knows."""
    heard = io.StringIO()
    publish_doctree(text, settings_overrides={"warning_stream": heard, "report_level": 2})
    lines = re.findall(r"^<string>.*", heard.getvalue(), re.MULTILINE)
    return [line for line in lines if not re.search(OF_SPHINX, line)]


def rendered(thing):
    if inspect.isclass(thing):
        return str(SphinxClassDoc(thing, config={"show_class_members": False}))
    return str(SphinxFunctionDoc(thing))


THINGS = dict(public_things())


@pytest.mark.parametrize("thing", THINGS.values(), ids=THINGS.keys())
def test_a_docstring_can_be_read(thing):
    assert complaints(rendered(thing)) == []


def test_a_shape_that_reads_like_a_link_is_found():
    assert complaints("x : shape (n_labeled_, n_members)")
