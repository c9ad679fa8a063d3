"""The client of Lustre on a compute node (llite): calls, and advice about locks."""
