// Package image tests the operator's container image: `make image` gives the same
// bytes each time, and what it gives runs.
package image
