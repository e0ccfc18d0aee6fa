// Command replicas measures what replicas that share views cost, beside one replica, and
// writes the tables of docs/sizing.md:
//
//	go run ./test/bench/replicas
//
// It starts a control plane with objects in some namespaces and a view of each, and
// built operators for each row, never those of two rows at once. Memory is the
// operators' own: live heap and stacks after a collection, and what is resident once Go
// has given back what it needed to read everything. The objects are made once for each
// number of them, at some hundred a second, and kept in bin/bench.
package main
