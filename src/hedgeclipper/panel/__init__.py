"""A panel: different classifiers, judged by labelled rows that they have not seen."""
