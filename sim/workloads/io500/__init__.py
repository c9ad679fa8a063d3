"""IO500: its phases, made of IOR, mdtest and pfind, in their order, with its score."""
