"""One file for each kind of document. They run in the worker, and nowhere else."""
