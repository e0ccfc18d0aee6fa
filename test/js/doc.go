// Command js is the larger part of `make test-js`: it runs the dashboard's page, the
// JavaScript client, in Node.js and in Chromium, clients that were written from the
// documentation, and the programs that draw exports, against a real control plane and
// the built operator.
//
// It starts these, puts a relay in front that serves files to the browser too
// and can cut every connection ([front]), and runs the tests beside it, which
// are JavaScript and drive the rest themselves: changes, cuts, restarts. What
// hack/js-tools.sh installs and `make build` builds must be there.
//
// It knows the operator as its users do, and nothing of what the tests expect.
package main
