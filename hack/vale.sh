#!/usr/bin/env bash
# Compiles Vale, the linter of prose, from its Go module into bin/vale, and checks Markdown
# and the comments of Go files with the rules of hack/vale.
#
# The version is that of hack/vale/go.mod, a separate module, so that Vale's dependencies
# are not the operator's. It needs a C compiler. With empty caches, compiling takes a minute
# and a half of processor time; checking takes ten seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

module=hack/vale
stamp=bin/.vale.stamp
want=$(cat $module/go.mod $module/go.sum hack/vale.sh | sha256sum | cut -d' ' -f1)-$(go env GOVERSION GOARCH | tr '\n' -)

if [[ ! -x bin/vale || ! -f $stamp || $(<"$stamp") != "$want" ]]; then
  mkdir -p bin
  rm -f "$stamp"
  echo "lint: compiling Vale, once" >&2
  # Built under another name and renamed, so that an interrupted build never leaves half a
  # program behind.
  (cd $module && CGO_ENABLED=1 GOFLAGS="-buildvcs=false" go build -trimpath -ldflags "-s -w" -o ../../bin/.vale.tmp github.com/vale-cli/vale/v3/cmd/vale)
  mv bin/.vale.tmp bin/vale
  echo "$want" >"$stamp"
fi

# Files of the work tree that git does not ignore. A generated file has the comments of others.
git ls-files -z --cached --others --exclude-standard '*.md' '*.go' ':!:**/zz_generated*' |
  xargs -0 -n 400 bin/vale --config hack/vale/.vale.ini --output line --no-global
