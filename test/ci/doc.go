// Package ci checks .ci/run and `make nightly` with a make that records its targets and does not build
// them.
package ci
