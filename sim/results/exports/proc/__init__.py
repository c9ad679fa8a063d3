"""What an administrator of Lustre reads below /proc/fs/lustre, of simulated servers and clients.

The forms are those of Lustre 2.7, which Theta and Cori ran; later versions have the same lines with
nanoseconds in the time stamps.
"""
