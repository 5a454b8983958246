"""The simulator of pipeline schedules: whether a list of passes can run, what it costs, and its Gantt chart."""
