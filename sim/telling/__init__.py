"""Telling: an answer is made once; text, JSON, pandas, pages and pictures are made of it."""
