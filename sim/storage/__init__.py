"""What is not Lustre: local SSDs, and service nodes behind DVS (burst buffers, home)."""
