"""From a folder or zip that somebody handed in to a staged copy of what may be graded, or a refusal in one line."""

from grader.intake.staging import StagedSubmission, stage, submission_id
from grader.intake.tree import SubmissionRefused

__all__ = ["StagedSubmission", "SubmissionRefused", "stage", "submission_id"]
