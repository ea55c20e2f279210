"""What Roundtable costs, measured side by side and printed as ratios: `python -m benchmarks`."""
