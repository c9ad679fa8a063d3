"""Many Darshan logs at once: what they were, and what changes would have saved."""
