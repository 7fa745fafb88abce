"""The paper's algorithm: every leaf of a forest is a specialist."""
