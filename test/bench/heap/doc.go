// Package heap measures the allocated memory of a process.
package heap
