"""Pictures of a run, and the sheet that all figures are drawn on."""
