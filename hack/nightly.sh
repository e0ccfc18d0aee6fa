#!/usr/bin/env bash
# Runs the parts of hack/nightly.txt, prints a line for each at the end, and fails if one
# failed. One that fails does not keep the others from running.
#
# With --changed it runs only the parts whose folders the change touches, with fewer
# episodes. The change is what HEAD has beyond origin/main; if it has nothing beyond, the
# last commit. GRAPHVIEW_CHANGED names the files instead, one a line. Where git knows
# neither, no part runs.
set -uo pipefail
cd "$(dirname "$0")/.."

changed() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null)
  if [[ -z $base || $base == "$(git rev-parse HEAD)" ]]; then
    base=$(git rev-parse --verify --quiet HEAD~1) || return 0
  fi
  git diff --name-only "$base" HEAD -- 2>/dev/null
}

only=
if [[ ${1:-} == --changed ]]; then
  only=yes
  files=$'\n'${GRAPHVIEW_CHANGED-$(changed)}
  export EPISODES=${EPISODES:-8} FUZZTIME=${FUZZTIME:-10s}
elif [[ $# -gt 0 ]]; then
  echo "nightly: unknown argument $1; there is only --changed" >&2
  exit 2
else
  export EPISODES=${EPISODES:-200} FUZZTIME=${FUZZTIME:-60s}
fi

trim() {
  local text=${1#"${1%%[! ]*}"}
  echo "${text%"${text##*[! ]}"}"
}

touched() { # folders
  local folder
  for folder in $1; do
    [[ $files == *$'\n'"$folder" || $files == *$'\n'"$folder"[/$'\n']* ]] && return
  done
  return 1
}

table= failed=0
while IFS='|' read -r part command folders; do
  part=$(trim "$part") command=$(trim "$command")
  [[ -n $part && $part != '#'* ]] || continue
  if [[ $only ]] && ! touched "$folders"; then
    continue
  fi
  echo "nightly: $command" >&2
  started=$SECONDS verdict=ok
  # The table is not the part's standard input.
  $command </dev/null || { verdict=FAILED; failed=1; }
  table+=$(printf '%-16s %-7s %5d s  %s' "$part" "$verdict" $((SECONDS - started)) "$command")$'\n'
done <hack/nightly.txt
if [[ $table ]]; then
  printf 'nightly: results\n%s' "$table"
elif [[ $only ]]; then
  echo "nightly: the change touches none of the folders in hack/nightly.txt"
fi
exit $failed
