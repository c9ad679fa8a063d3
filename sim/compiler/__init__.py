"""Machine code of the data plane: translated, linked and kept before it is needed."""
