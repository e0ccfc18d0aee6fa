#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME, one after another, and says in a line how
# each went. An input that fails is left in testdata/fuzz of its package.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${FUZZTIME:-60s}
failed=0
for package in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do
  for target in $(grep -h --include='*_test.go' -o '^func Fuzz[A-Za-z0-9_]*' "$package"/*_test.go | cut -c6- | sort); do
    log=$(mktemp)
    if go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "$time" >"$log" 2>&1; then
      verdict=ok
    else
      verdict=FAILED
      failed=1
    fi
    printf '%-32s %-24s %-6s %s\n' "$package" "$target" "$verdict" "$(grep -o 'execs: .*' "$log" | tail -1)"
    [ "$verdict" = ok ] || cat "$log"
    rm -f "$log"
  done
done
exit "$failed"
