"""Node-local SSDs: the devices, the files on them, and the kernel's page cache before them."""
