// Command js is the larger part of `make test-js`: it runs the dashboard's page, the
// JavaScript client, in Node.js and in Chromium, clients that were written from the
// documentation, and the programs that draw exports, against a real control plane and
// the built operator.
//
// It starts the control plane and the operator, with a proxy in front that also serves files to the browser
// and can cut every connection ([front]), and runs the tests in this folder. They
// are JavaScript, and request changes, cuts and restarts themselves. It builds the operator and the plugin, and needs the
// programs of hack/js-tools.sh.
//
// It knows the operator as its users do, and not the expectations of the tests.
package main
