// Package ci checks .ci/run and `make nightly` with a make that records its targets and does not build
// them. It also compares promises of docs with the tests, numbers and roles of the repository.
package ci
