"""Commands for who works on the package."""
