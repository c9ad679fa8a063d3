"""The page of memory: the unit of the page caches, and the least to which locks are aligned.

It stands here, not with the descriptions of machines, because compiled code keeps the value that a
constant had when it was compiled, and only the compiled packages are watched for changes
(:mod:`xc40io.engine.compiled`).
"""

from __future__ import annotations

PAGE = 4096
"""Bytes of a page, of the clients and of the servers alike (PAGE_CACHE_SIZE)."""

MOST_A_CALL = (1 << 31) - PAGE
"""Bytes that Linux moves at most in one call of read or write, 0x7ffff000 (MAX_RW_COUNT,
include/linux/fs.h; fs/read_write.c, rw_verify_area)."""
