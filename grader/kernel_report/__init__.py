"""`grader kernel`: guesses a function's inputs, runs it in two child processes, and shows all on one screen."""
