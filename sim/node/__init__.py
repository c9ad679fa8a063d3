"""The compute node: its cores, and what it takes to copy memory."""
