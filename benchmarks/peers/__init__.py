"""The package against what a user would pick instead, on the same streams in one run."""
