"""h5bench: its configuration file, and its benchmarks at work on the model of HDF5."""
