"""The panel beside AutoGluon, which has an environment of its own."""
