#!/usr/bin/env bash
# With a version, builds the Headlamp plugin with Headlamp's own tool and packs it as Headlamp's plugin managers expect, into
# bin/graphview-headlamp-VERSION.tar.gz, with metadata for Artifact Hub beside it, in which the archive is at GRAPHVIEW_DOWNLOAD. It installs the packages of client/headlamp/package-lock.json into bin/.headlamp, once:
# some 830 MB that are not in the plugin.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1#v}
hack/js-tools.sh client/headlamp bin/.headlamp
ln -sfn ../../bin/.headlamp/node_modules client/headlamp/node_modules
hack/go-build.sh "headlamp" ./hack/bundle -- -o bin/.bundle
bin/.bundle -single client/js/element.js
rm -rf client/headlamp/dist bin/headlamp
tools=$PWD/bin/.headlamp/node_modules/.bin
(cd client/headlamp && "$tools/tsc" -p . && NODE_ENV=production "$tools/headlamp-plugin" build . >../../bin/.headlamp/build.log) || { cat bin/.headlamp/build.log; exit 1; }
# The name of the folder becomes the name of the plugin.
mkdir -p bin/headlamp/graphview
mv client/headlamp/dist bin/headlamp/graphview/
sed "s/\"version\": \"0.0.0\"/\"version\": \"$version\"/" client/headlamp/package.json >bin/headlamp/graphview/package.json
(cd bin/headlamp && "$tools/headlamp-plugin" package graphview .)
archive=graphview-headlamp-$version.tar.gz
mv "bin/headlamp/graphview-$version.tar.gz" "bin/$archive"
sed "s|VERSION|$version|; s|CREATED|$(git log -1 --format=%cI 2>/dev/null || date -Iseconds)|; s|CHECKSUM|$(sha256sum "bin/$archive" | cut -d' ' -f1)|
  s|ARCHIVE|${GRAPHVIEW_DOWNLOAD:-https://github.com/OWNER/REPOSITORY/releases/download/v$version}/$archive|" client/headlamp/artifacthub-pkg.yml >bin/headlamp/artifacthub-pkg.yml
