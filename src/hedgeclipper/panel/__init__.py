"""A panel: different classifiers, judged by labeled rows that they have not seen."""
