#!/usr/bin/env bash
# Compiles a real control plane from its Go modules into bin/controlplane. Given
# an older minor version (v1.35), compiles that one into bin/controlplane-v1.35.
#
# The versions are those of test/controlplane/go.mod, and of v1.33.mod to v1.35.mod
# beside it; nothing is rebuilt while that file and this script stay the same. On two
# cores and with empty caches it takes five to ten minutes, nearly all of it
# kube-apiserver.
set -euo pipefail
cd "$(dirname "$0")/.."

module=test/controlplane
name=go
out=bin/controlplane
if [[ $# -gt 0 ]]; then
  name=$1
  out+=-$1
fi
if [[ ! -f $module/$name.mod ]]; then
  echo "control plane: there is no $module/$name.mod; the versions are $(cd $module && ls v*.mod | sed 's/\.mod$//' | xargs)" >&2
  exit 1
fi
stamp=$out/.stamp
want=$(cat "$module/$name.mod" "$module/$name.sum" hack/control-plane.sh | sha256sum | cut -d' ' -f1)-$(go env GOVERSION GOARCH | tr '\n' -)

if [[ -f $stamp && $(<"$stamp") == "$want" ]]; then
  exit 0
fi
rm -f "$stamp"
mkdir -p "$out"

version=$(sed -n 's|^[[:space:]]*k8s.io/kubernetes \(v[0-9.]*\)$|\1|p' "$module/$name.mod")
major=${version#v}; minor=${major#*.}; minor=${minor%%.*}; major=${major%%.*}

# Without a version the servers report v0.0.0 and clients misbehave.
ldflags="-s -w"
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  ldflags+=" -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor"
  ldflags+=" -X $package.gitTreeState=clean"
done

echo "control plane: Kubernetes $version, compiled once into $out (five to ten minutes on two cores)" >&2
started=$SECONDS
build() { # name, package
  echo "control plane: compiling $1 …" >&2
  # Built under another name and renamed, so that an interrupted build never
  # leaves half a program behind.
  (cd $module && CGO_ENABLED=0 GOFLAGS="-buildvcs=false" go build -modfile="$name.mod" -trimpath -ldflags "$ldflags" -o "../../$out/.$1.tmp" "$2")
  mv "$out/.$1.tmp" "$out/$1"
  echo "control plane: $1 done after $((SECONDS - started)) s" >&2
}
build etcd go.etcd.io/etcd/server/v3
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
build kubectl k8s.io/kubernetes/cmd/kubectl
build kube-controller-manager k8s.io/kubernetes/cmd/kube-controller-manager
echo "$want" >"$stamp"
