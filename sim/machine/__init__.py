"""The whole machine: its components put together, the loop over their events, what control sees."""
