"""Grading in two stages on two kinds of machine: who is worth GPU minutes, and both stages' reports in one."""
