// Package replicas has three built operators share views beside one real control plane.
// Views are read at every replica, and every reader has the oracle's graph.
//
// TestEpisodes has replicas in trouble meanwhile, in seeded episodes: they crash, freeze,
// stop and are replaced; others reach them late or not at all; their Leases cannot be
// written, are not seen, or have wrong times. After each, readers have the oracle's
// graphs, streams have ended with nothing but 1001, and nobody was reset whose holder,
// or the way to it, was not lost. `make replicas` runs some hundreds of them and prints
// a line for each, and a table; `make test` runs two short ones.
package replicas
