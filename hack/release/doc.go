// Release builds all files of a published version into one folder: the
// operator's image for its platforms, the Helm chart, manifests for kubectl, the
// kubectl plugin for its platforms with krew's manifest, the npm package of the JavaScript client,
// bills of materials, the provenance statement, the tags
// of Go modules, and checksums.
//
// It publishes nothing. The same commit, version and Go toolchain give the same
// files: they contain no time, no owner's name and no path of the machine.
package main
