"""What each word of the `grader` command does, one file a word."""
