package refs

import (
	"strings"

	"graphview.dev/graphview/graph"
)

// MaxReferences is the maximum number of references of one object, the limit of [budget.ObjectParts].
// Extract leaves out further ones; Examine also returns an error.
const MaxReferences = 10_000

// maxPath is the maximum length of a reference's path in bytes: a path may contain keys of the object.
// The word of a rule does not count.
const maxPath = 512

// minTerms is the least that a selector counts against MaxReferences, however few terms it has. Each
// object that it may match is compared with it, so an object has at most 500 selectors.
const minTerms = 20

// termsOf returns the number of keys and values in the selectors of one reference, at least minTerms.
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
	return max(count, minTerms)
}

// exists reports whether an object that a reference names can exist: whether Kubernetes
// accepts its kind, group, namespace and name.
func exists(r *graph.Reference) bool {
	return isWord(r.To.Kind, maxLabel, wordBytes) && (r.To.Group == "" || isWord(r.To.Group, maxPrefix, wordBytes)) &&
		(r.Namespace == "" || isWord(r.Namespace, maxLabel, wordBytes)) &&
		(r.Selector != nil || isName(r.To.Group, r.Name)) && len(r.Field) <= maxPath+graph.MaxWord+1
}

// rolesGroup is the group whose kinds accept any path segment as a name, such as "view only" or "*". In
// other groups such a text is a wildcard or a template.
const rolesGroup = "rbac.authorization.k8s.io"

// maxSegment is the maximum length of such a name in bytes. The API server has no limit.
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

// Classes of bytes: wordBytes in kinds, groups and namespaces; plainBytes in names, without
// the characters of wildcards and templates.
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

// isWord reports whether a text has 1 to longest bytes, all of them of one class.
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
