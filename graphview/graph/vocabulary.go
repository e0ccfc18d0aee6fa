package graph

import (
	"slices"
	"strings"
)

// ArcType is the meaning of a reference. The zero value is not a valid type.
type ArcType uint8

// The arc types of the stream protocol.
const (
	// OwnerReference leads from an object to its owner ("or").
	OwnerReference ArcType = iota + 1
	// Direct leads from an object to another object that it uses or selects ("r").
	Direct
	// Transitive leads from an object to another object that it names for others to use ("t").
	Transitive
)

// String returns the type's name on the wire: or, r, t.
func (t ArcType) String() string {
	switch t {
	case OwnerReference:
		return "or"
	case Direct:
		return "r"
	case Transitive:
		return "t"
	default:
		return "?"
	}
}

// ParseArcType is the inverse of ArcType.String.
func ParseArcType(s string) (ArcType, bool) {
	for _, t := range []ArcType{OwnerReference, Direct, Transitive} {
		if t.String() == s {
			return t, true
		}
	}
	return 0, false
}

// Kind names a kind of objects, without a version, as references do. The core group is "".
type Kind struct {
	Group, Kind string
}

// NamespaceKind is the kind of the objects that Reference.Namespaces selects. A lens follows such a
// reference only into namespaces whose Namespace objects are members, and a reader gets its arcs only
// if it may see these objects, because the arc reveals labels.
var NamespaceKind = Kind{Kind: "Namespace"}

// Resource names a served resource. Vertices are named by it.
type Resource struct {
	Group, Version, Resource string
}

// Key is the identity of a vertex. Namespace is "" for cluster-scoped objects.
type Key struct {
	Resource
	Namespace, Name string
}

// Scope says where the target of a Reference lives.
type Scope uint8

const (
	// ScopeUnknown: in the reference's Namespace if the target's kind is namespaced, else in none. The
	// graph learns this from AddSource.
	ScopeUnknown Scope = iota
	// ScopeNamespaced: in the reference's Namespace.
	ScopeNamespaced
	// ScopeCluster: in no namespace.
	ScopeCluster
)

// Reference is a reference of an object to others: to a single object by name, or to all objects that
// a selector matches. Either Name or Selector is set.
type Reference struct {
	Type ArcType
	// To is the kind of the target.
	To Kind
	// Namespace of the target, unless Scope is ScopeCluster.
	Namespace string
	Scope     Scope
	// Name of the target.
	Name string
	// UID of the target of an owner reference. If set, an object of that name with another UID is not the target.
	// Other references have none.
	UID string
	// Controller and BlockOwnerDeletion are those of an owner reference.
	Controller, BlockOwnerDeletion bool
	// Selector selects the targets by their labels, in Namespace.
	Selector *Selector
	// AllNamespaces lets Selector match in every namespace.
	AllNamespaces bool
	// Namespaces, with AllNamespaces, restricts Selector to the namespaces that Namespaces selects by
	// their labels; see NamespaceKind.
	Namespaces *Selector
	// Optional: the object works without the target. An owner is never optional.
	Optional bool
	// Inferred: the reference is a guess. There is an arc only while an object of that name exists;
	// see Lens.SetInferred.
	Inferred bool
	// Field is the path that holds the reference, with [] for list elements:
	// spec.volumes[].secret.secretName. Owner references have none. It may have a word; see WithWord.
	// The field of an inferred reference begins with InferredField. If an arc has too many fields,
	// those are left out first.
	Field string
}

// InferredField is the prefix of the Field of an inferred Reference.
const InferredField = "inferred/"

// Operator is how a Requirement compares a label.
type Operator uint8

// The operators of Kubernetes' set-based label selectors.
const (
	In Operator = iota
	NotIn
	Exists
	DoesNotExist
)

// Requirement is one condition on the label Key. Only In and NotIn use Values. NotIn is also satisfied
// if the label is absent.
type Requirement struct {
	Key    string
	Op     Operator
	Values []string
}

// Selector is a conjunction of requirements. Without any, it matches every object: the caller knows
// the meaning of an empty selector in its API.
type Selector struct {
	Requirements []Requirement
}

// Matches reports whether labels satisfy every requirement.
func (s *Selector) Matches(labels map[string]string) bool {
	for i := range s.Requirements {
		if !s.Requirements[i].matches(labels) {
			return false
		}
	}
	return true
}

func (r *Requirement) matches(labels map[string]string) bool {
	value, ok := labels[r.Key]
	switch r.Op {
	case Exists:
		return ok
	case DoesNotExist:
		return !ok
	case NotIn:
		return !ok || !slices.Contains(r.Values, value)
	default:
		return ok && slices.Contains(r.Values, value)
	}
}

// MaxWord is the largest length of a word in WithWord.
const MaxWord = 32

// wordMark separates the word from the path in a field. No path contains it: package refs neither
// makes nor accepts a path with control characters.
const wordMark = "\x00"

// WithWord returns a Reference's Field with a word for the meaning of the reference.
func WithWord(path, word string) string {
	if word == "" {
		return path
	}
	return path + wordMark + word
}

// CutWord is the inverse of WithWord.
func CutWord(field string) (path, word string) {
	path, word, _ = strings.Cut(field, wordMark)
	return path, word
}
