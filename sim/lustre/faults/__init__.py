"""Servers, LNET routers and clients that fail, disks that are slow; each registers what happens."""
