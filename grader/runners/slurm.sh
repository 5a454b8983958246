#!/usr/bin/env bash
#SBATCH --job-name=rooflab
#SBATCH --cpus-per-task=4
#SBATCH --mem=16G
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --output=rooflab-%A_%a.log
#
# Grades a cohort as Slurm arrays, a submission a task. On the login node, with the kit's environment active:
#
#   bash rooflab.sh plan SUBMISSIONS GRADES    lists the submissions and prints the three commands that follow
#
# Run the same commands again to go on after a time limit, a preemption or a broken node: what is graded is skipped.
# SUBMISSIONS is a folder of folders and zip files that are data; the kit, its solutions and its seed are yours.
# Nothing of it was run on a Slurm cluster yet: the kit's tests run it with the variables that Slurm sets.
set -euo pipefail

TIMED=${ROOFLAB_TIMED:-flash_attention.performance}
ISOLATION=${ROOFLAB_ISOLATION:-sandbox}
NOT_GRADED=3

fail() {
  echo "rooflab: $*" >&2
  exit 2
}

plan() {
  local submissions=$1 grades=$2 list name last self
  [ -d "$submissions" ] || fail "$submissions: no such folder"
  mkdir -p "$grades"
  list=$grades/submissions.txt
  touch "$list"
  # A task's number is its line, so lines only ever come after those that are there.
  while IFS= read -r -d '' name; do
    case $name in *$'\n'*) echo "rooflab: left out, its name has a line break: ${name//$'\n'/ }" >&2; continue ;; esac
    grep -qxF -- "$name" "$list" || printf '%s\n' "$name" >>"$list"
  done < <(find "$(realpath "$submissions")" -mindepth 1 -maxdepth 1 \( -type d -o -name '*.zip' \) ! -name '.*' -print0 | sort -z)
  last=$(($(wc -l <"$list") - 1))
  [ "$last" -ge 0 ] || fail "$submissions: holds no folder and no zip file"
  self=$(printf %q "$(realpath "$0")")
  grades=$(printf %q "$(realpath "$grades")")
  echo "sbatch --array=0-$last $self correctness $grades"
  echo "sbatch --array=0-$last --gres=gpu:1 $self timing $grades    # when those have ended"
  echo "bash $self combine $grades    # when these have"
}

# Every task has an --out of its own: two graders never write into one.
task() {
  local stage=$1 grades=$2 number=$3 submission out code=0
  submission=$(sed -n "$((number + 1))p" "$grades/submissions.txt")
  [ -n "$submission" ] || fail "$grades/submissions.txt: no line $((number + 1)); run plan again"
  out=$grades/$stage/$number
  if [ "$stage" = correctness ]; then
    grader grade "$submission" --out "$out" --jobs 1 --isolation "$ISOLATION" || code=$?
  else
    [ -f "$grades/correctness/$number/summary.csv" ] || fail "$submission: not graded yet; correctness comes first"
    if [ -z "$(reports "$grades/correctness/$number")" ] || [ -z "$(grader plausible "$grades/correctness/$number")" ]; then
      echo "rooflab: $submission: not timed, its kernels are not right, or nothing of it is pending"
      return 0
    fi
    grader grade "$submission" --out "$out" --jobs 1 --isolation "$ISOLATION" --only "$TIMED" || code=$?
  fi
  # The card, the driver or the node failed, not the student: the task fails, the points stay pending.
  [ "$code" -ne "$NOT_GRADED" ] || echo "rooflab: $submission: could not be graded; run the same command again" >&2
  return "$code"
}

reports() {
  find "$1" -mindepth 2 -maxdepth 2 -name report.json
}

combine() {
  local grades=$1 number=0 submission place missing=0
  local -a graded=() timed=()
  while IFS= read -r submission; do
    place=$grades/correctness/$number
    if [ -d "$place" ] && [ -n "$(reports "$place")" ]; then
      graded+=("$place")
    else
      echo "not graded: $submission" >&2
      missing=$NOT_GRADED
    fi
    place=$grades/timing/$number
    if [ -d "$place" ] && [ -n "$(reports "$place")" ]; then timed+=(--timed "$place"); fi
    number=$((number + 1))
  done <"$grades/submissions.txt"
  [ "${#graded[@]}" -gt 0 ] || fail "$grades/correctness: no reports there"
  grader combine "${graded[@]}" "${timed[@]}" --out "$grades/together"
  return "$missing"
}

case ${1-} in
plan)
  [ $# -eq 3 ] || fail "plan SUBMISSIONS GRADES"
  plan "$2" "$3"
  ;;
correctness | timing)
  [ $# -eq 2 ] || fail "$1 GRADES"
  task "$1" "$2" "${SLURM_ARRAY_TASK_ID:?is set by sbatch --array; run plan for the command}"
  ;;
combine)
  [ $# -eq 2 ] || fail "combine GRADES"
  combine "$2"
  ;;
*) fail "bash $0 plan SUBMISSIONS GRADES" ;;
esac
