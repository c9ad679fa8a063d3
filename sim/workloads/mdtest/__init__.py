"""mdtest: creates, stats, reads and removes of many names, counted per second."""
