"""What MPI-IO prints in a job, in the manner of Cray's library."""
