"""Findings: what a finished run says of its causes; nothing here prints."""
