// Package seed gives tests that draw at random their seeds: where every change is
// checked the same each time, so that a failure is of the change, and another one for
// whoever looks for more.
//
// It knows nothing but testing, so that tests of any package may use it.
package seed
