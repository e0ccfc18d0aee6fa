#!/usr/bin/env bash
# Makes sure that there is what `make test-js` needs: Node.js 20 or newer, npm,
# Chromium and Python 3, and in bin/.js the packages that test/js/package-lock.json pins.
# (The go command does not look into folders that begin with a dot.) With two arguments,
# the packages of another folder's package-lock.json, and where they go.
#
# What is on the PATH is used. What is not is installed where that can be done
# unasked, as root on a Debian; else it is named. Where the Node.js there is too
# old, npm brings one into bin/.node.
set -euo pipefail
cd "$(dirname "$0")/.."

# Its callers have it first on their PATH too.
PATH=$PWD/bin/.node/node_modules/.bin:$PATH
has_node() { node -e 'process.exit(Number.parseInt(process.versions.node) >= 20 ? 0 : 1)' 2>/dev/null; }
has_npm() { command -v npm >/dev/null; }
has_chromium() { command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; }
has_python() { python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; }

missing=()
find_missing() {
  missing=()
  has_node || missing+=(nodejs)
  has_npm || missing+=(npm)
  has_chromium || missing+=(chromium)
  has_python || missing+=(python3)
}

find_missing
if [[ ${#missing[@]} -gt 0 && $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
  echo "js tools: installing ${missing[*]} with apt-get" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update
  apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
  find_missing
fi
if has_npm && ! has_node; then
  echo "js tools: bringing Node.js into bin/.node" >&2
  npm install --prefix bin/.node --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
    "node-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')@22" >&2
  hash -r
  find_missing
fi
if [[ ${#missing[@]} -gt 0 ]]; then
  echo "js tools: missing: ${missing[*]} (packages of those names on Debian; Node.js has to be 20 or newer, and is: $(node --version 2>/dev/null || echo not there))" >&2
  exit 1
fi

from=${1:-test/js}
out=${2:-bin/.js}
want=$(cat "$from/package.json" "$from/package-lock.json" hack/js-tools.sh | sha256sum | cut -d' ' -f1)-$(node --version)
if [[ -f $out/.stamp && $(<"$out/.stamp") == "$want" ]]; then
  exit 0
fi
echo "js tools: installing the packages of $from/package-lock.json into $out, once" >&2
mkdir -p "$out"
rm -f "$out/.stamp"
cp "$from/package.json" "$from/package-lock.json" "$out/"
# No package's own scripts run.
(cd "$out" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
echo "$want" >"$out/.stamp"
