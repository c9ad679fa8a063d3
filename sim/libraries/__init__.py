"""I/O libraries: how they turn an application's calls into operations on files."""
