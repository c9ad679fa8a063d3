"""What assistants that tune I/O may ask: the tools of ``xc40io mcp``, bounded in size and time."""
