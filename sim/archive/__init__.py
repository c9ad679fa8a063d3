"""Files that are written whole; and records of any kind in one file, without loss."""
