// Docs writes the reference of GraphView's fields, as part of `make generate`:
// what the CustomResourceDefinition says of each field, between two markers of
// docs/graphview.md. What is outside of the markers is written by hand.
//
// It reads the generated CustomResourceDefinition and not the Go types, because
// that is what the API server holds users to. It knows nothing of what fields
// mean.
package main
