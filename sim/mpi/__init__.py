"""MPI: the cost of collectives; MPI-IO: hints, aggregators, collective buffering, sieving."""
