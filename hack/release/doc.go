// Release makes everything that is published of a version, into one folder: the
// operator's image for its platforms, the Helm chart, manifests for kubectl, the
// kubectl plugin for its platforms with krew's manifest, the JavaScript client as
// npm takes it, bills of materials, a statement of how all of it was built, the tags
// of Go modules, and checksums.
//
// It publishes nothing. The same commit, version and Go toolchain give the same
// files: nothing in them has a time, an owner's name or a path of the machine.
package main
