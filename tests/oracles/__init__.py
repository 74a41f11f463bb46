"""The papers' algorithms as literal loops: one row at a time, straight from the equations.

They share no code with the package. They are written to be read beside the paper, and decently:
with NumPy, and over all experts of a row at once, so that measured ratios mean something.
"""
