"""The peers, one file each; they run in their own environment and import nothing of ours."""
