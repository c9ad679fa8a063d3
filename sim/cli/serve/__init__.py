"""Commands that serve: the explorer, and assistants."""
