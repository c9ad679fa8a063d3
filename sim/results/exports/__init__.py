"""Results in the formats that other people's tools read."""
