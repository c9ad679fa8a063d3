"""A recorded run as a moving picture: one HTML page that plays its RPCs and its locks."""
