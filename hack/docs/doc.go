// Docs writes the references of our kinds' fields, as part of `make generate`:
// what a CustomResourceDefinition says of each field, between two markers of the
// kind's page in docs. What is outside of the markers is written by hand.
//
// It reads the generated CustomResourceDefinitions and not the Go types, because
// that is what the API server holds users to. It knows nothing of what fields
// mean.
package main
