// Command bundle bundles the dashboard's modules into the files that the programs serve
// (dashboard/dist, a part of `make generate`). With -single it bundles
// <graph-view> into one file for other web pages (`make dashboard-bundle`).
//
// Its output in dashboard/dist is committed, so that `go build` needs no
// step before it; a test compares it with the modules. The single file and snapshot.js
// have no worker, whose script would be a second file, and run in the page's main
// thread.
package main
