package refs

import (
	"slices"
	"strings"

	"graphview.dev/graphview/graph"
)

// commonWords are the words that keys of other projects use for Kubernetes' own kinds.
var commonWords = func() map[string]graph.Reference {
	words := map[string]graph.Reference{
		"claim":         namespaced("PersistentVolumeClaim"),
		"clusterrole":   ofCluster("rbac.authorization.k8s.io", "ClusterRole"),
		"credential":    namespaced("Secret"),
		"credentials":   namespaced("Secret"),
		"ingressclass":  ofCluster("networking.k8s.io", "IngressClass"),
		"priorityclass": ofCluster("scheduling.k8s.io", "PriorityClass"),
		"pvc":           namespaced("PersistentVolumeClaim"),
		"runtimeclass":  ofCluster("node.k8s.io", "RuntimeClass"),
		"storageclass":  ofCluster("storage.k8s.io", "StorageClass"),
	}
	for kind, target := range kinds {
		if kind != "Namespace" { // a namespace says where, not what
			words[strings.ToLower(kind)] = target
		}
	}
	return words
}()

// external is the domain of Config Connector, whose references are to its own kinds:
// a secretRef is of a SecretManagerSecret.
const external = "cnrm.cloud.google.com"

// outside begins a key that names an object outside the cluster: externalClusters[].name is
// not the name of a Cluster. A Secret that another program created is called external too.
const outside = "external"

// isOther are words that say of a value what it is, and it is no name of an object,
// whatever kinds there are.
var isOther = map[string]bool{
	"annotation": true, "domain": true, "format": true, "group": true, "image": true, "interval": true, "key": true, "kind": true,
	"label": true, "mode": true, "namespace": true, "path": true, "pattern": true, "port": true, "prefix": true, "protocol": true,
	"suffix": true, "timeout": true, "type": true, "version": true,
}

// saysOther tells keys that end in such a word: matchingKey, completionMode.
func saysOther(key string) bool {
	if len(key) > 2*maxLabel {
		return true
	}
	words := wordsOf(key)
	if len(words) > 1 && words[len(words)-1] == "name" && words[0] == "generate" {
		return true
	}
	return len(words) > 0 && isOther[strings.TrimSuffix(words[len(words)-1], "s")]
}

// meaning returns what a key may speak of in an object of a group: the kinds of its
// own group whose name or whose name's end the key is, or Kubernetes' own, or those of
// groups of the same domain; else what the key ends in.
func (s *Served) meaning(group, key string) []graph.Reference {
	// A key that is longer than a kind's name with a word or two about it says none.
	if s == nil || len(key) > 2*maxLabel {
		return nil
	}
	at := keyOf{group, key}
	s.mu.RLock()
	found, ok := s.known[at]
	s.mu.RUnlock()
	if ok {
		return found
	}
	found = s.lookUp(group, stem(wordsOf(key)))
	s.mu.Lock()
	defer s.mu.Unlock()
	// Keys of maps are whatever somebody wrote: what there is no room for is looked up
	// each time.
	if len(s.known) < maxKnown {
		s.known[keyOf{strings.Clone(group), strings.Clone(key)}] = found
	}
	return found
}

func (s *Served) lookUp(group string, words []string) []graph.Reference {
	if len(words) == 0 || len(words) == 1 && isOther[words[0]] {
		return nil
	}
	for _, form := range [...][]string{words, singular(words)} {
		if form == nil {
			continue
		}
		word := strings.Join(form, "")
		own, near := s.groups[group], s.domains[domainOf(group)]
		if found := s.first(own.named(word), own.endsIn(word)); found != nil {
			return found
		}
		if target, ok := commonWords[word]; ok && !strings.HasSuffix(group, external) {
			return []graph.Reference{target}
		}
		if found := s.first(near.named(word), near.endsIn(word)); found != nil {
			return found
		}
		for i := 1; i < len(form); i++ {
			end := strings.Join(form[i:], "")
			if found := s.first(own.named(end)); found != nil && len(end) >= shortestEnd && form[i-1] != outside {
				return found
			}
			if target, ok := commonWords[end]; ok && !strings.HasSuffix(group, external) {
				return []graph.Reference{target}
			}
		}
	}
	return nil
}

// first makes references of the first kinds that are any.
func (s *Served) first(candidates ...[]graph.Kind) []graph.Reference {
	for _, kinds := range candidates {
		if len(kinds) == 0 {
			continue
		}
		targets := make([]graph.Reference, len(kinds))
		for i, kind := range kinds {
			targets[i] = graph.Reference{To: kind, Scope: s.scopes[kind]}
		}
		return targets
	}
	return nil
}

func (v *vocabulary) named(word string) []graph.Kind {
	if v == nil {
		return nil
	}
	return v.exact[word]
}

func (v *vocabulary) endsIn(word string) []graph.Kind {
	if v == nil || len(word) < shortestEnd {
		return nil
	}
	return v.ends[word]
}

// stem is a key without the words that say that it is a reference.
func stem(words []string) []string {
	for len(words) > 0 {
		switch words[len(words)-1] {
		case "ref", "refs", "reference", "references", "name", "names":
			words = words[:len(words)-1]
		default:
			return words
		}
	}
	return nil
}

// singular is a plural's, nil of what is none.
func singular(words []string) []string {
	last := words[len(words)-1]
	switch {
	case strings.HasSuffix(last, "ies"):
		last = strings.TrimSuffix(last, "ies") + "y"
	case strings.HasSuffix(last, "ie"): // a list's key has lost its s already
		last = strings.TrimSuffix(last, "ie") + "y"
	case strings.HasSuffix(last, "sse") || strings.HasSuffix(last, "sses"):
		last = last[:strings.LastIndex(last, "ss")+2]
	case strings.HasSuffix(last, "s") && !strings.HasSuffix(last, "ss"):
		last = strings.TrimSuffix(last, "s")
	default:
		return nil
	}
	return append(slices.Clone(words[:len(words)-1]), last)
}
