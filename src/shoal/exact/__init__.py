"""Numbers that promises depend on: parsed, compared and printed exactly."""
