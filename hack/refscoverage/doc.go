// Refscoverage prints what graphview/refs covers: the rows of its table by source
// and by target, and what it does not cover of Kubernetes itself, which it holds
// against the schemas of a real API server with every API switched on. A field
// there that looks like a reference and has no row must be among the omissions of
// omissions.txt, each with its reason; the program fails if one is not, or if an
// omission is of no field.
//
//	go run ./hack/refscoverage
//
// It looks at names and shapes alone, so what it reports is what a person should
// look at. Of kinds from CustomResourceDefinitions it prints, in the form of the table,
// what is read of them and why, and of what it is not sure:
//
//	go run ./hack/refscoverage -crds DIRECTORY
package main
