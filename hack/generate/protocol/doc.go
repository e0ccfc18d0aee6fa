// Package protocol writes the descriptions of the stream protocol: the OpenAPI document of the server and the
// types of client/js. Both are made from the Go types in api/stream/v1alpha1 and their comments. The paths of the
// document, with their parameters and answers, are in paths.json.
package protocol
