"""The explorer in the browser: settings, runs in workers, what comes of them as a page."""
