"""Pictures: the roofline with operations on it, and labels that keep out of one another's way."""
