// Package document puts what a command has measured between two markers of a document. It
// knows no command and no document.
package document
