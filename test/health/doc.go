// Package health compares the health of objects by graphview/health with that by kstatus
// and by Argo CD's built-in checks. The objects are the test data of these tools,
// and thousands of generated objects with the fields that the rules read. Each
// difference must be in the list of docs/measured/health.md, with its reason.
//
// test/health/peers is a separate module with the two tools.
package health
