package refs

import (
	"slices"
	"strings"

	"graphview.dev/graphview/graph"
)

// maxGroupKinds is the maximum number of kinds in a group for which hints returns them all.
const maxGroupKinds = 24

// hints returns the kinds that a key may mean without naming them: for a reference or a relation, all
// kinds of a small group; else kinds with the words of the key in their names (before a relation, only
// if it is one kind); also Secret or ConfigMap, for words of secrets and configuration.
func (s *Served) hints(group string, words []string) (found []graph.Reference) {
	isRef := slices.ContainsFunc(words, isReference)
	words = stem(words)
	own, last := s.groups[group], len(words)-1
	if own == nil || last < 0 || last == 0 && isNoNameWord[words[0]] || isNewWord[words[0]] {
		return nil
	}
	isAny := isRef || isRelation[strings.Join(words, "")] || isObjectWord[words[last]]
	if isAny && len(own.all) <= maxGroupKinds {
		found = s.references(own.all)
	}
	named := words
	if !isAny && isRelation[words[last]] {
		named = words[:last] // a databaseInstance is a database, and not an object of any kind
	}
	for i := 0; i < len(named) && found == nil; i++ {
		if word := strings.Join(named[i:], ""); len(word) > shortestEnd {
			found = s.references(own.exact[word], own.ends[word], own.parts[word])
		}
	}
	if len(named) < len(words) && len(found) > 1 {
		found = nil // the words before the relation fit several kinds
	}
	has := func(of map[string]bool) bool {
		return slices.ContainsFunc(words, func(word string) bool { return of[word] })
	}
	switch {
	case has(isSecretWord), has(isSecretiveWord):
		found = append(found, kinds["Secret"])
	case isRef, has(isConfigWord):
		found = append(found, kinds["ConfigMap"], kinds["Secret"])
	}
	return found
}

var (
	isConfigWord = set("conf", "config", "configuration", "properties", "script", "scripts", "settings")
	isSecretWord = set("ca", "key", "keys", "keystore", "kubeconfig", "passphrase", "truststore")
	// isObjectWord has words for an object whose kind the words before need not name: appGUID (a CFApp).
	isObjectWord = set("cr", "guid", "res")
	// isRelation has words for an object of any kind, and for its relation to another object.
	isRelation = set("cr", "dependson", "destination", "downstream", "guid", "instance", "origin", "owner", "parent", "res", "source", "target", "upstream")
)
