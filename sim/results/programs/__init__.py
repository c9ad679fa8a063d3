"""What programs print: IOR, mdtest, IO500, h5bench, and the table of any other kernel."""
