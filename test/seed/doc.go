// Package seed gives seeds to randomized tests: a fixed one by default, so that a failure is
// due to the change under test, and another one on request.
//
// It imports only testing, so that tests of any package may use it.
package seed
