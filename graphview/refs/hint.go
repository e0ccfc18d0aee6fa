package refs

import (
	"slices"
	"strings"

	"graphview.dev/graphview/graph"
)

// maxKindred is the maximum number of kinds of a group that a reference may be to any of.
const maxKindred = 24

// hints returns the kinds that a key may speak of without their names: those of a small group, for a reference
// or a relation; else those of the group that have the words of the key in their names, and a Secret or a
// ConfigMap, for what is secret or configures.
func (s *Served) hints(group string, words []string) (found []graph.Reference) {
	isRef := slices.ContainsFunc(words, isReference)
	words = stem(words)
	own, last := s.groups[group], len(words)-1
	if own == nil || last < 0 || last == 0 && isOther[words[0]] || isElsewhere[words[0]] {
		return nil
	}
	if isRef || isRelation[words[last]] || isRelation[strings.Join(words, "")] {
		if len(own.all) <= maxKindred {
			found = s.references(own.all)
		}
	}
	for i := 0; i < len(words) && found == nil; i++ {
		if word := strings.Join(words[i:], ""); len(word) > shortestEnd {
			found = s.references(own.exact[word], own.ends[word], own.parts[word])
		}
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
	// isRelation are words for what an object is to another one, and for an object as such.
	isRelation = set("cr", "dependson", "destination", "downstream", "guid", "instance", "origin", "owner", "parent", "res", "source", "target", "upstream")
)
