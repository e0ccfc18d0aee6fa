// Command peers prints how GitOps tools judge objects: Argo CD by its built-in checks and,
// where it is given the file of one, by a health check in Lua; Flux and others by
// kstatus. It reads a JSON array of objects from standard input
// and writes a JSON array of verdicts. With the argument corpus it writes the
// objects that both tools test themselves with.
//
// It is a module of its own for tests, so that none of the tools is among the
// operator's dependencies.
package main
