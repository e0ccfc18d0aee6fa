// Package replicas runs three built operators that share views, with one real control
// plane. It reads views at every replica, and compares them with the oracle's graphs.
//
// TestEpisodes breaks replicas in seeded episodes: they crash, freeze, stop and are
// replaced; others reach them late or not at all; their Leases cannot be written, are not
// seen, or have wrong times. After each episode, subscribers have the oracle's graphs,
// streams have ended only with 1001, and a subscriber was reset only if its holder, or the
// connection to it, was lost. `make replicas` runs hundreds of episodes and prints a line
// for each, and a table; `make test` runs two short ones.
package replicas
