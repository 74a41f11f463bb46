"""What the package is held against: published figures, and ratios of speed and memory.

Run from the root of the repository, ``python -m benchmarks --help``.
"""
