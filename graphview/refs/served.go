package refs

import (
	"slices"
	"strings"
	"sync"

	"graphview.dev/graphview/graph"
)

// maxKindsPerWord is the maximum number of kinds for one word; a word with more is ambiguous
// and is ignored. A kind and its cluster-scoped variant count once.
const maxKindsPerWord = 6

// shortestEnd is the minimum length of the end of a kind's name that stands for the kind; shortestFar is
// the same for kinds of other publishers.
const shortestEnd, shortestFar = 3, 8

// Served has the kinds that a cluster serves, by the words that keys use for them. It is
// immutable and safe for concurrent use. A nil Served serves nothing.
type Served struct {
	scopes map[graph.Kind]graph.Scope
	// groups and domains are keyed by the name of a group and of a domain.
	groups, domains map[string]*vocabulary
	byName          map[string][]graph.Kind

	mu    sync.RWMutex
	known map[keyOf]meaning // a cache of meaning
}

// keyOf is a key in objects of a group.
type keyOf struct{ group, key string }

// maxKnown bounds the cached keys.
const maxKnown = 32_768

// allDomains is the key of the vocabulary of all groups but those of Kubernetes.
const allDomains = "*"

// vocabulary maps words to kinds: exact by the whole name, ends by its end and, for a group, parts by
// words at its beginning or in its middle. all are a group's kinds.
type vocabulary struct {
	exact, ends, parts map[string][]graph.Kind
	all                []graph.Kind
	// first counts the kinds by their first word, and all of them under "".
	first map[string]int
}

// NewServed returns the vocabulary of the kinds that a cluster serves, with their scopes.
func NewServed(kinds map[graph.Kind]graph.Scope) *Served {
	s := &Served{scopes: kinds, groups: map[string]*vocabulary{}, domains: map[string]*vocabulary{}, byName: map[string][]graph.Kind{}, known: map[keyOf]meaning{}}
	for kind := range kinds {
		s.byName[kind.Kind] = append(s.byName[kind.Kind], kind)
		if kubernetesGroups[kind.Group] || len(wordsOf(kind.Kind)) == 0 {
			continue // commonWords has the former, served or not; an extension API server may serve a kind without letters
		}
		note(s.groups, kind.Group, kind)
		s.groups[kind.Group].noteParts(kind)
		note(s.domains, DomainOf(kind.Group), kind)
		note(s.domains, allDomains, kind)
	}
	for _, named := range s.byName {
		slices.SortFunc(named, compareKinds)
	}
	for _, of := range [...]map[string]*vocabulary{s.groups, s.domains} {
		for _, v := range of {
			v.settle()
		}
	}
	return s
}

func note(all map[string]*vocabulary, name string, kind graph.Kind) {
	v := all[name]
	if v == nil {
		v = &vocabulary{exact: map[string][]graph.Kind{}, ends: map[string][]graph.Kind{}, parts: map[string][]graph.Kind{}, first: map[string]int{}}
		all[name] = v
	}
	words := wordsOf(kind.Kind)
	v.first[words[0]]++
	v.first[""]++
	for i := range words {
		word := strings.Join(words[i:], "")
		if i == 0 {
			v.exact[word] = append(v.exact[word], kind)
		} else if len(word) >= shortestEnd {
			v.ends[word] = append(v.ends[word], kind)
		}
	}
	if len(words) > 1 { // vm for VirtualMachine
		var initials strings.Builder
		for _, word := range words {
			initials.WriteByte(word[0])
		}
		v.ends[initials.String()] = append(v.ends[initials.String()], kind)
	}
}

func (v *vocabulary) noteParts(kind graph.Kind) {
	v.all = append(v.all, kind)
	words := wordsOf(kind.Kind)
	for i := range words {
		for j := i + 1; j < len(words); j++ {
			word := strings.Join(words[i:j], "")
			v.parts[word] = append(v.parts[word], kind)
		}
	}
}

// settle drops words with too many kinds, and sorts the kinds of the others.
func (v *vocabulary) settle() {
	slices.SortFunc(v.all, compareKinds)
	for _, words := range [...]map[string][]graph.Kind{v.exact, v.ends, v.parts} {
		for word, kinds := range words {
			if countNamesakes(kinds) > maxKindsPerWord {
				delete(words, word)
				continue
			}
			slices.SortFunc(kinds, compareKinds)
		}
	}
}

// compareKinds orders kinds by group and name.
func compareKinds(a, b graph.Kind) int {
	return strings.Compare(a.Group+"/"+a.Kind, b.Group+"/"+b.Kind)
}

// Serves reports whether the cluster serves a kind.
func (s *Served) Serves(kind graph.Kind) bool {
	if s == nil {
		return false
	}
	_, ok := s.scopes[kind]
	return ok
}

// Changed returns the domains in which s and other serve different kinds or scopes.
func (s *Served) Changed(other *Served) []string {
	var changed []string
	differ := func(a, b *Served) {
		if a == nil {
			return
		}
		for kind, scope := range a.scopes {
			if b == nil {
				changed = append(changed, DomainOf(kind.Group))
			} else if is, ok := b.scopes[kind]; !ok || is != scope {
				changed = append(changed, DomainOf(kind.Group))
			}
		}
	}
	differ(s, other)
	differ(other, s)
	slices.Sort(changed)
	return slices.Compact(changed)
}

// Guesses reports whether the references of a kind depend on the kinds that a cluster
// serves.
func (x *Extractor) Guesses(of graph.Kind) bool { return x.Infers(of) || x.read[of] != nil }

// IsOpen reports whether the schema of a kind may add references: not for kinds of
// Kubernetes itself, which the table covers.
func IsOpen(of graph.Kind) bool { return !kubernetesGroups[of.Group] }

// shared are the domains in which many publishers have subdomains.
var shared = set("k8s.io", "x-k8s.io", "github.com", "github.io", "google.com", "amazonaws.com")

// DomainOf returns the part of a group's name that all groups of its publisher share: the
// last two labels, or three if the last two are a shared domain.
func DomainOf(group string) string {
	cut := strings.LastIndexByte(group, '.')
	if cut < 0 {
		return group
	}
	cut = strings.LastIndexByte(group[:cut], '.')
	if cut < 0 {
		return group
	}
	if domain := group[cut+1:]; !shared[domain] {
		return domain
	}
	return group[strings.LastIndexByte(group[:cut], '.')+1:]
}

// wordsOf splits a name into words, in lower case: ComputeURLMap is compute, url and map;
// server_tls-secret is server, tls and secret.
func wordsOf(name string) []string {
	var words []string
	start := 0
	cut := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
		start = end
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_' || c == '-' || c == '.':
			cut(i)
			start = i + 1
		case i > start && isUpper(c) && (!isUpper(name[i-1]) || i+1 < len(name) && isLower(name[i+1])):
			cut(i)
		}
	}
	cut(len(name))
	return words
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
