"""A script a published table."""
