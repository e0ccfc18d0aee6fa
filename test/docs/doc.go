// Package docs runs the commands of README.md, docs and the chart's README as they
// are written, against a real control plane with the operator installed and the
// samples applied, so that none of them promises what does not work. It also follows
// the links of all pages, and looks for the names in those that describe the code.
//
// Every block of a shell is run, line by line of one bash, unless a comment right
// above it says otherwise:
//
//	<!-- test: streams -->        each command goes on for ever: it has to begin a graph, and is then ended
//	<!-- test: fails -->          it has to fail, and to say what the block says
//	<!-- test: no; <reason> -->   it is not run, because of what is missing here
//
// In a block with prompts the lines that begin with "$ " are commands, and the
// others what they print: of tables the header is compared.
//
// There is no kubelet, so no pod to look into; nothing is pulled or pushed. The
// port 8001 of `kubectl proxy` is replaced by one that is free.
package docs
