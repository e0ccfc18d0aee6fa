// Package imports holds the lines between packages that .golangci.yml draws with
// depguard, in seconds and without the linter, so that every change is checked for
// them. It knows the linter's configuration and the import clauses of Go files, and
// nothing else.
package imports
