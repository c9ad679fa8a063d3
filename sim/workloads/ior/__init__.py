"""IOR: what a user types for it, and which bytes of which file each rank then touches."""
