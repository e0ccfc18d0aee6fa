// Command bundle makes of the dashboard's modules the files that binaries serve
// (dashboard/dist, a part of `make generate`), and with -single one file of
// <graph-view> for other people's pages (`make dashboard-bundle`).
//
// Its output in dashboard/dist is committed, so that `go build` needs no
// step before it; a test holds it to the modules. The single file and snapshot.js
// have no worker, whose script would be a second file, and work in the page's own
// thread.
package main
