#!/usr/bin/env bash
# Regenerates everything that is generated, in place, and fails if that changed
# the tree or if something is not as `make fmt` and `go mod tidy` leave it.
# Says all that is wrong, not only the first.
set -uo pipefail
cd "$(dirname "$0")/.."

generated=(api config/crd/bases config/rbac/role.yaml charts/graphview dashboard/dist)
failed=0
check() { # what to do about it, command
  local remedy=$1 output
  shift
  echo "verify: $*" >&2
  if ! output=$("$@" 2>&1); then
    printf '%s\nverify: FAILED: %s (%s)\n' "$output" "$*" "$remedy" >&2
    failed=1
  fi
}

formatted() {
  local files
  files=$(git ls-files --cached --others --exclude-standard '*.go' | while read -r file; do [[ -f $file ]] && echo "$file"; done | xargs gofmt -l) || return
  [[ -z $files ]] || { echo "$files"; return 1; }
}
unchanged() { git diff --exit-code -- .; }
nothing_new() {
  local files
  files=$(git ls-files --others --exclude-standard -- "${generated[@]}") || return
  [[ -z $files ]] || { echo "$files"; return 1; }
}

check "the generators must run" make --no-print-directory generate
check "run make fmt" formatted
check "run go mod tidy" go mod tidy -diff
check "commit what make generate changed" unchanged
check "commit what make generate made" nothing_new
exit $failed
