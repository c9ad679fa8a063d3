"""What all components of the data plane share: programs and their operations, files, the books."""
