// Command mutate breaks single lines of the functions that decide about rights, visibility and
// limits, and counts how many of the broken lines the tests of their packages notice:
//
//	go run ./hack/mutate                        # all functions of targets.txt, ten breaks each
//	go run ./hack/mutate -only graphview/rights -each 5
//
// It changes no file of the tree: the go command reads a broken file with -overlay. A break that
// does not compile is not counted. A break whose tests do not end within -timeout is noticed.
// A break that changes no behaviour cannot be noticed; equivalent.txt lists such breaks
// with the reason, and they are not counted either.
package main
