// Refscoverage prints the coverage of graphview/refs: the rows of its table by source
// and by target, and the fields of Kubernetes' own kinds without a row. It reads these fields
// from the schemas of a real API server with every API switched on. A field
// that looks like a reference and has no row must be in
// omissions.txt, with the reason. The program fails if such a field is missing there, or if an
// omission matches no field.
//
//	go run ./hack/refscoverage
//
// It compares names and shapes alone, so a person has to judge the fields that it reports. For kinds of
// CustomResourceDefinitions it prints, in the form of the table, the references that the operator reads
// without the table, the source of each, and whether that is unsure:
//
//	go run ./hack/refscoverage -crds DIRECTORY
package main
