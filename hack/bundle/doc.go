// Command bundle is `make dashboard-bundle`: it makes one file of <graph-view> and all that
// it needs, for pages that have no server of their own beside it.
//
// The page that the binaries serve needs no bundle. This one has no worker, whose
// script would be a second file, and works in the page's own thread.
package main
