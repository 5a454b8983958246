"""Running a course: its settings, the ledger of attempts and overrides, its nbgrader gradebook, submissions in."""
