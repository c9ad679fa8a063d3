"""Files behind service nodes: burst buffers and home directories, reached over Cray's DVS.

The client of a compute node has no cache. It cuts a call at the stripes of the file, and each part
into blocks, which go to the service nodes over the high-speed network, straight, without LNET
routers; it keeps at most so many blocks under way to one service node, and the call ends with the
last of them. All blocks of a node pass its one DVS client; those of a service node its disks, and
whatever all service nodes share behind these. Writes to one file on one service node exclude each
other there (the inode lock of its local file system), so that many writers of one file are slower
than as many files.

A service node that moves its own files, as stage-in and stage-out do, has them on its own disks: no
network and no DVS client are in the way.

Bytes take room of an allocation when the file grows over them; where there is none left, the call
ends with ENOSPC.
"""
