#!/usr/bin/env bash
# Compiles Helm from its Go module into bin/helm: for the chart's tests.
#
# The version is that of hack/tools/helm.mod, a separate module, so that Helm's
# dependencies are not the operator's. The script builds Helm again when that changes.
# On two cores and with empty caches it takes two minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

module=hack/tools
stamp=bin/.helm.stamp
want=$(cat $module/helm.mod $module/helm.sum hack/helm.sh | sha256sum | cut -d' ' -f1)-$(go env GOVERSION GOARCH | tr '\n' -)

if [[ -x bin/helm && -f $stamp && $(<"$stamp") == "$want" ]]; then
  exit 0
fi
mkdir -p bin
rm -f "$stamp"
version=$(sed -n 's|^[[:space:]]*helm.sh/helm/v4 \(v[0-9.]*\).*|\1|p' $module/helm.mod)
echo "helm: compiling Helm $version, once" >&2
started=$SECONDS
# Built under another name and renamed, so that an interrupted build never leaves
# half a program behind.
(cd $module && CGO_ENABLED=0 GOFLAGS="-buildvcs=false" ../go-build.sh helm helm.sh/helm/v4/cmd/helm -- -modfile=helm.mod -trimpath \
  -ldflags "-s -w -X helm.sh/helm/v4/internal/version.version=$version" -o ../../bin/.helm.tmp)
mv bin/.helm.tmp bin/helm
echo "$want" >"$stamp"
echo "helm: done after $((SECONDS - started)) s" >&2
