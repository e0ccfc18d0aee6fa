// Command peers prints the verdicts of GitOps tools on objects: those of Argo CD's built-in checks, those of
// kstatus, which Flux and others use, and, with the file of one, those of a health check in
// Lua. It reads a JSON array of objects from standard input
// and writes a JSON array of verdicts. With the argument corpus it writes the
// objects of both tools' test data.
//
// It is a separate module, so that the operator does not depend on the
// tools.
package main
