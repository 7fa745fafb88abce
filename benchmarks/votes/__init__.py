"""Votes of labeling functions, crowds and classifiers: real sets, draws of labels, and peers."""
