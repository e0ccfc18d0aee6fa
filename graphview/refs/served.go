package refs

import (
	"slices"
	"strings"
	"sync"

	"graphview.dev/graphview/graph"
)

// maxNamesakes is how many kinds one word may stand for, a kind and the one of the same
// name for the whole cluster being one: a word that stands for more says nothing.
const maxNamesakes = 3

// shortestEnd is the shortest end of a kind's name that stands for the kind.
const shortestEnd = 4

// Served is what a cluster serves, by the words that keys use for it. It does not
// change, and is safe for concurrent use. A nil Served serves nothing.
type Served struct {
	scopes map[graph.Kind]graph.Scope
	// groups and domains are looked up by the name of a group, and of a domain.
	groups, domains map[string]*vocabulary

	mu    sync.RWMutex
	known map[keyOf]meaning // what keys were found to mean
}

// keyOf is a key in objects of a group.
type keyOf struct{ group, key string }

// maxKnown bounds the keys whose meaning is kept.
const maxKnown = 32_768

// vocabulary is what words stand for: the name of a kind, and the end of one.
type vocabulary struct{ exact, ends map[string][]graph.Kind }

// NewServed makes the words of the kinds that a cluster serves, with their scopes.
func NewServed(kinds map[graph.Kind]graph.Scope) *Served {
	s := &Served{scopes: kinds, groups: map[string]*vocabulary{}, domains: map[string]*vocabulary{}, known: map[keyOf]meaning{}}
	for kind := range kinds {
		if settled[kind.Group] {
			continue // these are in core, whatever is served
		}
		note(s.groups, kind.Group, kind)
		note(s.domains, domainOf(kind.Group), kind)
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
		v = &vocabulary{exact: map[string][]graph.Kind{}, ends: map[string][]graph.Kind{}}
		all[name] = v
	}
	words := wordsOf(kind.Kind)
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

// settle drops the words that stand for too many kinds, and puts the others in order.
func (v *vocabulary) settle() {
	for _, words := range [...]map[string][]graph.Kind{v.exact, v.ends} {
		for word, kinds := range words {
			if countNamesakes(kinds) > maxNamesakes {
				delete(words, word)
				continue
			}
			slices.SortFunc(kinds, CompareKinds)
		}
	}
}

// CompareKinds orders kinds by group and name.
func CompareKinds(a, b graph.Kind) int {
	return strings.Compare(a.Group+"/"+a.Kind, b.Group+"/"+b.Kind)
}

// Serves tells whether the cluster serves a kind.
func (s *Served) Serves(kind graph.Kind) bool {
	if s == nil {
		return false
	}
	_, ok := s.scopes[kind]
	return ok
}

// Changed lists the domains of the groups in which another cluster serves other kinds.
func (s *Served) Changed(other *Served) []string {
	var changed []string
	differ := func(a, b *Served) {
		if a == nil {
			return
		}
		for kind, scope := range a.scopes {
			if b == nil {
				changed = append(changed, domainOf(kind.Group))
			} else if is, ok := b.scopes[kind]; !ok || is != scope {
				changed = append(changed, domainOf(kind.Group))
			}
		}
	}
	differ(s, other)
	differ(other, s)
	slices.Sort(changed)
	return slices.Compact(changed)
}

// Guesses tells whether what objects of a kind refer to depends on what a cluster
// serves.
func (x *Extractor) Guesses(of graph.Kind) bool { return x.guesses(of) || x.read[of] != nil }

// Infers reports whether the references of a kind's objects depend on the kinds that the
// cluster serves in the kind's domain.
func (x *Extractor) Infers(of graph.Kind) bool { return x.guesses(of) }

// IsOpen tells whether a kind's schema may tell what the table does not know: that of
// no kind of Kubernetes itself does.
func IsOpen(of graph.Kind) bool { return !settled[of.Group] }

// DomainOf is the domain of a group's publisher, as Changed lists them.
func DomainOf(group string) string { return domainOf(group) }

// shared are the domains in which many publish, each under a name of its own.
var shared = map[string]bool{"k8s.io": true, "x-k8s.io": true, "github.com": true, "github.io": true, "google.com": true, "amazonaws.com": true}

// domainOf is the part of a group's name that its publisher's other groups have too:
// the last two words, or three where many publish under two.
func domainOf(group string) string {
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

// wordsOf cuts a name into its words, in small letters: ComputeURLMap is compute, url
// and map; server_tls-secret is server, tls and secret.
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
