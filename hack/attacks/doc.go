// Command attacks runs the tests of what an attack on a running operator once got, and
// writes the table into docs/security.md: for each finding its trigger and its tests,
// what it did before, and what it costs now. It takes some twenty minutes. With names
// of files it reads what `go test -v` has written there, and runs nothing: figures of
// tests that are in no file stay as they are in the table.
//
// It knows which tests try a finding, and nothing of what they do.
package main
