"""What an administrator of Lustre reads below /proc/fs/lustre, of simulated servers and clients.

The formats are from Lustre 2.7, which Theta and Cori ran; later versions have the same lines, with
nanoseconds in the time stamps.
"""
