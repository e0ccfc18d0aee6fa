// Image builds the container image of the operator without Docker: it compiles the
// operator for each platform, packs the program alone into a layer, and writes an
// OCI image layout into a tar file, or pushes the image.
//
// The same source, version and Go toolchain give the same bytes, and so the same
// digest, on every machine: the image contains no time, no owner's name and no
// path of the machine.
//
// -from pushes a tar file of an earlier run, so that the published image is the tested one.
//
// It is a separate module, so that its dependencies are not the operator's.
package main
