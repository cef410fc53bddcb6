"""What looks at a context, or at the values that came of it; each takes the context first."""
