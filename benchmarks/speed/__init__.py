"""Speed as ratios measured in one run, and memory."""
