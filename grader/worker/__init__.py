"""The code that runs beside a submission. Imports nothing else of grader.

Staged into the sandbox as `_rooflab_worker`: the kit comes first on sys.path there, so a plain name would
shadow a student's helper.
"""
