#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME, as many at a time as there are processors,
# and says in a line how each went. An input that fails is left in testdata/fuzz
# of its package.
set -euo pipefail
cd "$(dirname "$0")/.."

export FUZZTIME=${FUZZTIME:-60s}
export work
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fuzz() {
  package=$1 target=$2 program=$work/${1//\//_}.test log=$work/$2.log verdict=ok
  # One worker each; inputs that found something new are not made smaller for long.
  (cd "$package" && "$program" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$FUZZTIME" -test.fuzzminimizetime 1s \
    -test.parallel 1 -test.fuzzcachedir "$work/cache/$package") >"$log" 2>&1 || verdict=FAILED
  printf '%-40s %-26s %-6s %s\n' "$package" "$target" "$verdict" "$(grep -o 'execs: .*' "$log" | tail -1)"
  [ "$verdict" = ok ] || { cat "$log"; false; }
}
export -f fuzz

files=$(grep -rl --include='*_test.go' '^func Fuzz' . | sort)
# Compiled one after another: they have most packages in common.
for package in $(dirname $files | sort -u); do
  go test -c -fuzz Fuzz -o "$work/${package//\//_}.test" "$package"
done
for file in $files; do
  grep -o '^func Fuzz[A-Za-z0-9_]*' "$file" | cut -c6- | sed "s#^#$(dirname "$file") #"
done | xargs -P "$(nproc)" -n 2 bash -c 'fuzz "$@"' _
