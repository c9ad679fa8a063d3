"""A run as a Darshan log, as if Darshan 3.5 had been linked to the simulated job."""
