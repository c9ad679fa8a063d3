"""A discrete-event simulator of the I/O path of Cray XC40 supercomputers."""
