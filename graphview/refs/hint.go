package refs

import (
	"slices"
	"strings"

	"graphview.dev/graphview/graph"
)

// maxKindred is the maximum number of kinds of a group that a reference may be to any of.
const maxKindred = 24

// hints returns the kinds that a key may speak of without their names: those of a small group, for a reference
// or a relation; else those of the group that have the words of the key in their names, for words before a relation
// only if that is one kind; and a Secret or a ConfigMap, for what is secret or configures.
func (s *Served) hints(group string, words []string) (found []graph.Reference) {
	isRef := slices.ContainsFunc(words, isReference)
	words = stem(words)
	own, last := s.groups[group], len(words)-1
	if own == nil || last < 0 || last == 0 && isOther[words[0]] || isElsewhere[words[0]] {
		return nil
	}
	isAny := isRef || isRelation[strings.Join(words, "")] || isObjectWord[words[last]]
	if isAny && len(own.all) <= maxKindred {
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
		found = nil // the words before say no more than that it is one of several kinds
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
	// isObjectWord are words for an object as such, after words that need not be of its kind: appGUID names a CFApp.
	isObjectWord = set("cr", "guid", "res")
	// isRelation are words for an object as such, and for what an object is to another one.
	isRelation = set("cr", "dependson", "destination", "downstream", "guid", "instance", "origin", "owner", "parent", "res", "source", "target", "upstream")
)
