// Docs writes the references of our kinds' fields, as part of `make generate`:
// the descriptions in a CustomResourceDefinition, between two markers of the kind's page in
// docs. The rest of the page is written by hand.
//
// It reads the generated CustomResourceDefinitions and not the Go types, because
// that is what the API server holds users to. It knows nothing of what fields
// mean.
package main
