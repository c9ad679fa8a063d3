"""Questions answered in processes of their own, within limits: what servers stand on."""
