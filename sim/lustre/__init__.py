"""Lustre: striping, the client's OSCs, LNET, the servers; their data plane and its control side."""
