package refs

import (
	"strings"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

// MaxReferences bounds what Extract returns for one object. Further references
// are ignored, and Examine says so.
const MaxReferences = 10_000

// What the references of one object may be. Each selector is looked at whenever an
// object comes that it may match, so there may be fewer of them than of names.
var (
	references = budget.Declare("references_object", "references of one object", MaxReferences)
	selectors  = budget.Declare("selectors_object", "label selectors among the references of one object", 500)
	terms      = budget.Declare("selector_terms_object", "keys and values in the label selectors of one object", 20_000)
)

// maxPath bounds the path of a reference, which may hold keys of the object. A rule's word
// comes on top.
const maxPath = 512

// termsOf counts the keys and values of selectors.
func termsOf(of ...*graph.Selector) int {
	count := 0
	for _, s := range of {
		if s == nil {
			continue
		}
		for i := range s.Requirements {
			count += 1 + len(s.Requirements[i].Values)
		}
	}
	return count
}

// exists tells whether there can be what a reference names: its kind, its group,
// its namespace and its name are such as Kubernetes takes.
func exists(r *graph.Reference) bool {
	return isWord(r.To.Kind, maxLabel, wordBytes) && (r.To.Group == "" || isWord(r.To.Group, maxPrefix, wordBytes)) &&
		(r.Namespace == "" || isWord(r.Namespace, maxLabel, wordBytes)) &&
		(r.Selector != nil || isName(r.To.Group, r.Name)) && len(r.Field) <= maxPath+graph.MaxWord+1
}

// rolesGroup is the group of the kinds whose names are path segments: a role may be called
// "view only" or "*". For other kinds such a text is a wildcard or a template.
const rolesGroup = "rbac.authorization.k8s.io"

// maxSegment bounds a path segment, which the API server does not limit.
const maxSegment = 4096

// isName reports whether the API server accepts a name for the kinds of a group.
func isName(group, name string) bool {
	if name == "." || name == ".." {
		return false
	}
	if group == rolesGroup {
		return name != "" && len(name) <= maxSegment && !strings.ContainsAny(name, "/%")
	}
	return isWord(name, maxPrefix, plainBytes)
}

// Bytes of kinds, groups and namespaces; and of names, without those of wildcards and
// templates.
const (
	wordBytes byte = 1 << iota
	plainBytes
)

var bytesOf = func() (table [256]byte) {
	for c := range table {
		switch c := byte(c); {
		case isAlphanumeric(c), c == '-', c == '.':
			table[c] = wordBytes | plainBytes
		case c > ' ' && c < 0x7f && !strings.ContainsRune("/%*{}$<>", rune(c)):
			table[c] = plainBytes
		}
	}
	return table
}()

// isWord tells a text that is not empty, not longer than so, and of such bytes.
func isWord(text string, longest int, of byte) bool {
	if text == "" || len(text) > longest {
		return false
	}
	for i := range len(text) {
		if bytesOf[text[i]]&of == 0 {
			return false
		}
	}
	return true
}
