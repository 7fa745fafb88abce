"""Biological response of molecules (Kaggle): 1,776 descriptors; 2,501 extra unlabeled rows."""

from benchmarks.data.paper import PaperData

DATA = PaperData(
    name="kagg-prot",
    budgets=(10, 100),
    published={
        10: (0.567, 0.509, 0.500, 0.520, 0.497, 0.510),
        100: (0.714, 0.665, 0.656, 0.681, 0.666, 0.688),
    },
)
