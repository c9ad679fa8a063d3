"""What stands in a text: YAML, expressions and their arithmetic, dotted paths of fields."""
