// Chart keeps charts/graphview in step with the rest of the repository, as part
// of `make generate`: the chart's copies of CustomResourceDefinitions, roles,
// webhook, APIService and alerts, which Helm can read only from inside of a
// chart, and the table of values in its README.
//
// What a value means is said once, in values.schema.json; what it is when nothing
// is said, in values.yaml. The program knows nothing of either's contents, and
// writes no file that has not changed.
package main
