"""Other people's programs that take our estimators: each thing done, and whether it came right."""
