#!/usr/bin/env bash
# Compares what the programs call with Go's vulnerability database. Fails where a
# vulnerability can be reached, and where there was no time to find out. Where the
# database cannot be reached it says so and passes: a change is not wrong because
# a network is.
set -uo pipefail
cd "$(dirname "$0")/.."
limit=${VULNERABILITIES_TIMEOUT:-900}

(cd hack/tools && GOFLAGS=-buildvcs=false go build -modfile=govulncheck.mod -trimpath -o ../../bin/govulncheck golang.org/x/vuln/cmd/govulncheck) || exit 1

# answers reports whether the database answers. Only curl knows proxies.
answers() {
  local database=${GOVULNDB:-https://vuln.go.dev} host
  if command -v curl >/dev/null; then
    curl --silent --fail --max-time 20 --output /dev/null "$database/index/db.json"
    return
  fi
  host=${database#*://}
  host=${host%%[/:]*}
  timeout 20 bash -c "exec 3<>/dev/tcp/$host/443" 2>/dev/null
}

out_of_reach() {
  echo "vulnerabilities: NOT CHECKED: the database at ${GOVULNDB:-vuln.go.dev} is out of reach (set GOVULNDB to another)" >&2
  exit 0
}

output=$(timeout "$limit" bin/govulncheck ./cmd/... 2>&1)
code=$?
case $code in
0) echo "vulnerabilities: none that the programs reach" ;;
3)
  printf '%s\nvulnerabilities: FAILED: the programs reach what is listed above; update those modules\n' "$output" >&2
  exit 1
  ;;
124)
  answers || out_of_reach
  echo "vulnerabilities: FAILED: the database answers, but govulncheck did not end within $limit s; try again on a machine that is less busy, or set VULNERABILITIES_TIMEOUT to more" >&2
  exit 1
  ;;
*)
  if [[ $output == *"fetching vulnerabilities"* || $output == *"vuln.go.dev"* ]]; then
    out_of_reach
  fi
  printf '%s\nvulnerabilities: FAILED: govulncheck ended with %d\n' "$output" "$code" >&2
  exit 1
  ;;
esac
