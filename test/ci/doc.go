// Package ci checks .ci/run and `make nightly` with a make that only records its targets. What
// the targets do is not its subject.
package ci
