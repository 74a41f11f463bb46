"""Aggregators: forecasts of experts, the columns of X, to one forecast."""
