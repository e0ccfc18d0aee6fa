// Generate is the part of `make generate` that is specific to GraphView. It writes
//
//   - the tables of fields in docs, from the CustomResourceDefinitions, which the API server enforces (fields.go),
//   - the table of Kubernetes' own kinds, from the Go types of k8s.io/api (kinds.go),
//   - the files of charts/graphview that copy files of the repository, because Helm reads only files
//     inside a chart, and the table of values in the chart's README (chart.go, values.go),
//   - the OpenAPI document and the types of client/js, from the Go types of the stream protocol (protocol).
//
// It writes no file that is up to date. It runs at the root of the repository.
package main
