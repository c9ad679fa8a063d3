"""The client of Lustre on a compute node (llite): calls, fsync, truncate, advice about locks."""
