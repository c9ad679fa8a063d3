"""A run, several jobs or a study as one HTML page that needs nothing else."""
