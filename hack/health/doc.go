// Health says how GitOps tools judge objects: Argo CD by a health check in Lua,
// and Flux and whatever follows kstatus by that. It reads a JSON array of objects
// from standard input, the Lua script from the file that it is given, and writes
// a JSON array of what both say.
//
// It is a module of its own for tests, so that neither Lua nor kstatus are among
// the operator's dependencies.
package main
