#!/usr/bin/env bash
# Compiles a real control plane from its Go modules into bin/controlplane: etcd,
# kube-apiserver, kubectl and kube-controller-manager. With --no-controllers the last is
# left out, for what needs no workloads. Given an older minor version (v1.35), compiles that
# one into bin/controlplane-v1.35.
#
# The versions are those of test/controlplane/go.mod, and of v1.33.mod to v1.35.mod
# beside it; no program is built again while that file and the flags stay the same. On two
# cores and with empty caches it takes five to ten minutes, nearly all of it
# kube-apiserver.
set -euo pipefail
cd "$(dirname "$0")/.."

module=test/controlplane name=go out=bin/controlplane
declare -A packages=(
  [etcd]=go.etcd.io/etcd/server/v3
  [kube-apiserver]=k8s.io/kubernetes/cmd/kube-apiserver
  [kubectl]=k8s.io/kubernetes/cmd/kubectl
  [kube-controller-manager]=k8s.io/kubernetes/cmd/kube-controller-manager
)
programs=(etcd kube-apiserver kubectl kube-controller-manager)
for argument in "$@"; do
  case $argument in
  --no-controllers) programs=(etcd kube-apiserver kubectl) ;;
  *)
    name=$argument
    out=bin/controlplane-$argument
    ;;
  esac
done
if [[ ! -f $module/$name.mod ]]; then
  echo "control plane: there is no $module/$name.mod; the versions are $(cd $module && ls v*.mod | sed 's/\.mod$//' | xargs)" >&2
  exit 1
fi

version=$(sed -n 's|^[[:space:]]*k8s.io/kubernetes \(v[0-9.]*\)$|\1|p' "$module/$name.mod")
major=${version#v}; minor=${major#*.}; minor=${minor%%.*}; major=${major%%.*}

# Without a version the servers report v0.0.0 and clients misbehave.
ldflags="-s -w"
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  ldflags+=" -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor"
  ldflags+=" -X $package.gitTreeState=clean"
done

want=$({ cat "$module/$name.mod" "$module/$name.sum"; echo "$ldflags"; } | sha256sum | cut -d' ' -f1)-$(go env GOVERSION GOARCH | tr '\n' -)
missing=()
for program in "${programs[@]}"; do
  stamp=$out/.$program.stamp
  [[ -x $out/$program && -f $stamp && $(<"$stamp") == "$want" ]] || missing+=("$program")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

cat >&2 <<EOF
control plane: compiling ${missing[*]} of Kubernetes $version into $out, once: five to ten minutes on two cores.
control plane: if you have a cluster, such as one of kind, you need none of this: make build, then
control plane: bin/kubectl-graphview dashboard --local uses your kubeconfig; README.md says how to install the operator.
EOF
# Built under other names and renamed, so that an interrupted build never leaves half a
# program behind. The programs have most packages in common, so one go command builds them.
mkdir -p "$out/.build"
targets=()
for program in "${missing[@]}"; do
  rm -f "$out/.$program.stamp"
  targets+=("${packages[$program]}")
done
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false
started=$SECONDS
(cd $module && exec ../../hack/go-build.sh "control plane" "${targets[*]}" -- -modfile="$name.mod" -trimpath -ldflags "$ldflags" -o "../../$out/.build/")
for program in "${missing[@]}"; do
  built=$(basename "${packages[$program]}")
  [[ $built == v3 ]] && built=server # the go command leaves out the version of a module
  mv "$out/.build/$built" "$out/$program"
  echo "$want" >"$out/.$program.stamp"
done
rm -r "$out/.build"
echo "control plane: done after $((SECONDS - started)) s" >&2
