"""The object storage servers: threads for small requests, journals, disk arrays."""
