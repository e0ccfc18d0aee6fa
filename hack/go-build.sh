#!/usr/bin/env bash
# Runs go build, and says how far it is: after two seconds, and then every fifteen. go-build.sh LABEL PACKAGES -- FLAGS
# compiles the packages, which are words of one argument.
set -euo pipefail
label=$1 flags=()
read -ra packages <<<"$2"
shift 2
[[ ${1:-} != -- ]] || shift
flags=("$@")
log=$(mktemp)
go build -v "${flags[@]}" "${packages[@]}" 2>"$log" &
compiling=$!
trap 'kill $compiling 2>/dev/null || true; rm -f "$log"' EXIT
total=''
for ((tenths = 1; ; tenths++)); do
  kill -0 $compiling 2>/dev/null || break
  sleep 0.1
  if ((tenths == 20)); then
    mod=()
    for flag in "${flags[@]}"; do [[ $flag != -modfile=* ]] || mod+=("$flag"); done
    total=$(go list -deps "${mod[@]}" "${packages[@]}" 2>/dev/null | wc -l)
    echo "$label: compiling at most $total packages; those that did not change since are not compiled again" >&2
  elif ((tenths % 150 == 0)); then
    echo "$label: $(wc -l <"$log") of at most $total packages compiled after $((tenths / 10)) s" >&2
  fi
done
if ! wait $compiling; then
  cat "$log" >&2
  exit 1
fi
[[ -z $total ]] || echo "$label: compiled" >&2
