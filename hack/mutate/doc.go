// Command mutate breaks single lines of the functions that decide about rights, visibility and
// limits, and counts how many of the broken lines the tests of their package notice:
//
//	go run ./hack/mutate                        # all functions of targets.txt, ten breaks each
//	go run ./hack/mutate -only stream/rights -each 5
//
// The tree stays as it is: a broken file is given to the go command with -overlay. A break that
// does not compile is not counted. One whose tests do not end within -timeout is noticed.
// A break that changes no behaviour cannot be noticed; equivalent.txt lists those that were looked
// at, with the reason, and they are not counted either.
package main
