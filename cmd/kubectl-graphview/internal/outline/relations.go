package outline

import (
	"cmp"
	"slices"
	"strings"

	"graphview.dev/client"
	"graphview.dev/graphview/printable"
	"graphview.dev/graphview/wording"
)

// relation is the relation of a line to a line below it, in the order of drawing.
type relation uint8

const (
	owns relation = iota
	uses
	names
	lacksOwner // a missing owner
	ownedBy    // this and the next ones are for outlines in reverse
	usedBy
	namedBy
)

// words of a line if the reference has none. An owned object needs none in a tree.
var words = [...]string{owns: "", uses: "uses", names: "names", lacksOwner: "owner", ownedBy: "owned by", usedBy: "used by", namedBy: "named by"}

// Verb returns the meaning of an arc as a verb, from the source to the destination.
func Verb(t client.ArcType, a client.Attributes) string {
	switch {
	case t == client.Owner:
		return wording.Owner
	case len(a.Words) > 0:
		return printable.Text(strings.Join(a.Words, " and "))
	case t == client.Names:
		return words[names]
	default:
		return words[uses]
	}
}

// lead returns the beginning of the line of a branch, "" for an owned object.
func (b *branch) lead() string {
	text := words[b.relation]
	switch {
	case len(b.words) == 0:
	case b.relation == uses || b.relation == names:
		text = strings.Join(b.words, " and ")
	case b.relation == usedBy || b.relation == namedBy:
		reversed := make([]string, len(b.words))
		for i, word := range b.words {
			reversed[i] = strings.TrimPrefix(wording.Reversed(word), "is ")
		}
		text = strings.Join(slices.Compact(reversed), " and ")
	}
	if text != "" {
		text += " "
	}
	return printable.Text(text)
}

// branch is a vertex below another.
type branch struct {
	to       client.Key
	relation relation
	absence  string // of a vertex that is not in the graph
	wrong    bool   // the absence is a problem
	fields   []string
	words    []string     // the verbs of the reference
	alike    []client.Key // other objects of the same resource, to which folded objects refer
	count    int          // the number of objects for which to stands; 0 and 1 for itself alone
}

// branches returns the branches of each vertex, sorted, each vertex below another once. In reverse
// they lead to the dependents of a vertex, otherwise to its parts.
func branches(g *client.Graph, reverse bool, name func(client.Key) string) map[client.Key][]branch {
	all := make(map[client.Key][]branch, len(g.Vertices))
	for key, a := range g.Arcs {
		from, b := key.From, branch{to: key.To, fields: a.Fields, words: a.Words}
		b.absence, b.wrong = Absence(a)
		switch {
		case key.Type == client.Owner && reverse:
			b.relation = ownedBy
		case key.Type == client.Owner && a.Missing:
			b.relation = lacksOwner
		case key.Type == client.Owner:
			from, b = key.To, branch{to: key.From, relation: owns}
		case reverse:
			// The source of an arc is always in the graph.
			from, b = key.To, branch{to: key.From, relation: usedBy, fields: a.Fields, words: a.Words}
			if key.Type == client.Names {
				b.relation = namedBy
			}
		case key.Type == client.Names:
			b.relation = names
		default:
			b.relation = uses
		}
		all[from] = append(all[from], b)
	}
	for from, list := range all {
		slices.SortFunc(list, func(a, b branch) int {
			return cmp.Or(cmp.Compare(a.relation, b.relation), cmp.Compare(name(a.to), name(b.to)), a.to.Compare(b.to))
		})
		seen := make(map[client.Key]bool, len(list))
		all[from] = slices.DeleteFunc(list, func(b branch) bool {
			again := seen[b.to]
			seen[b.to] = true
			return again
		})
	}
	return all
}

// owned returns the vertices with an owner in the graph other than
// themselves.
func owned(g *client.Graph) map[client.Key]bool {
	all := map[client.Key]bool{}
	for key, a := range g.Arcs {
		if key.Type == client.Owner && !a.Missing && key.From != key.To {
			all[key.From] = true
		}
	}
	return all
}
