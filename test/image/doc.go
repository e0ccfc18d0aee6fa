// Package image tests the operator's container image: `make image` builds the same
// bytes each time, and the image runs.
package image
