// Package replicas has three built operators share views beside one real control
// plane: each reads at every replica what each of them holds, and replicas are killed,
// stopped and frozen meanwhile.
package replicas
