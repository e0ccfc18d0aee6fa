// Package heap reads what a process has allocated and not given up.
package heap
