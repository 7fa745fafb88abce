"""Voters on tables: groups of trees and other classifiers, fitted to the labeled rows.

Each voter gives scores of labeled rows without the use of their own labels, and of any other rows.
Voters know nothing of weights, probabilities or bounds.
"""
