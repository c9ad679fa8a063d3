"""What accounting knows of jobs, and what is taken to be so where it does not."""
