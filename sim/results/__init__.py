"""The result of a run, in every form it leaves in."""
