"""The explorer in the browser: settings, runs in workers, results as a page."""
