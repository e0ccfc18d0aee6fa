// Package docs runs the commands of README.md, docs and the chart's README as they are
// written, against a real control plane with the operator and the samples installed. It
// also checks the links of all pages, and the names of code in pages that describe it.
//
// It runs every shell block, line by line in one bash, unless a comment right above the
// block says otherwise:
//
//	<!-- test: streams -->        each command runs for ever: it must begin a graph, and is then ended
//	<!-- test: fails -->          it must fail, with the output in the block
//	<!-- test: no; <reason> -->   it is not run, because the test lacks something
//
// In a block with prompts the lines that begin with "$ " are commands, and the
// others their output; for tables, the test compares the header.
//
// There is no kubelet, so no pod to look into; nothing is pulled or pushed. The
// port 8001 of `kubectl proxy` is replaced by a free one.
package docs
