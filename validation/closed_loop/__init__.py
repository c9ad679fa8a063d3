"""Does the advice help? Jobs are drawn, advised, changed as advised, and run again."""
