// Package replicas tests several replicas of the built operator: one of them writes status, each serves
// every view, and the subscribers of a replica notice nothing of trouble at another one.
package replicas
