// Package health compares what graphview/health says of objects with what kstatus
// and Argo CD's built-in checks say: of the objects that they test themselves
// with, and of thousands that are made up of the fields which rules look at. Each
// difference has to be in the list of docs/measured/health.md, with its reason.
//
// test/health/peers is a module of its own that asks the two.
package health
