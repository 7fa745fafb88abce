"""A panel: different classifiers, weighed by labels they have not seen and by unlabeled rows."""
