"""Newsgroup articles (the SSL book's set 9): 11,960 sparse term weights, 1,500 rows."""

from benchmarks.data.paper import PaperData

DATA = PaperData(
    name="ssl-text",
    budgets=(10, 100),
    published={
        10: (0.586, 0.517, 0.512, 0.556, 0.553, 0.501),
        100: (0.765, 0.551, 0.542, 0.596, 0.569, 0.552),
    },
    remarks={
        100: "the paper does not state how it prepared the text; ours are the term weights in the "
        "benchmark's own file",
    },
)
