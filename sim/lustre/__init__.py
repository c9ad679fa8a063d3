"""Lustre: striping, locks, the life of RPCs and requests; its clients, servers and LNET."""
