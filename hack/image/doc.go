// Image makes a container image of the operator without Docker: it compiles the
// operator for each platform, puts the program alone into a layer, and writes an
// OCI image layout in a tar file, or pushes the image.
//
// The same source, version and Go toolchain give the same bytes, so the same
// digest, on every machine: nothing in the image has a time, an owner's name or a
// path of the machine.
//
// -from pushes such a file, so that what was tried is what is published.
//
// It is a module of its own, so that what it needs is not the operator's.
package main
