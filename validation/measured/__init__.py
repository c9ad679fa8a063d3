"""Measurements as people have them: outputs of programs, read and written as a file of claims."""
