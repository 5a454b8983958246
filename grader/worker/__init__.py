"""The code that runs beside a submission. Staged into the sandbox as `worker`; imports nothing else of grader."""
