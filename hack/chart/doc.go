// Chart keeps charts/graphview in step with the rest of the repository, as part
// of `make generate`: the chart's copies of CustomResourceDefinitions, roles,
// webhook, APIService and alerts, which Helm can read only from inside of a
// chart, and the table of values in its README.
//
// The meaning of a value is only in values.schema.json, and its default only in values.yaml. The program knows nothing of either's contents, and
// writes no file that has not changed.
package main
