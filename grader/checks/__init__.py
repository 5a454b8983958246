"""How an answer is judged: comparison, messages, hints from mistakes, scores."""
