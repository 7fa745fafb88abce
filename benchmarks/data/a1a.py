"""The Adult data as 123 indicators, 24 % positive; the file has a test set."""

from benchmarks.data.paper import PaperData

DATA = PaperData(
    name="a1a",
    budgets=(100, 1000),
    published={
        100: (0.779, 0.619, 0.525, 0.680, 0.682, 0.725),
        1_000: (0.808, 0.714, 0.655, 0.734, 0.722, 0.768),
    },
    remarks={
        100: "with 100 labels and 24 % positives a forest rarely predicts the positive class, and "
        "how often depends on the draw, so its AUC by predicted classes varies from 0.5 to 0.75",
    },
)
