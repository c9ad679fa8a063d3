"""Plans: which hardware to buy for a mix of jobs."""
