"""What programs print: IOR, mdtest, IO500, h5bench, MPI-IO, and the table of any other kernel."""
