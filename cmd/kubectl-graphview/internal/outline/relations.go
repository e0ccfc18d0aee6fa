package outline

import (
	"cmp"
	"slices"
	"strings"

	"graphview.dev/client"
	"graphview.dev/graphview/printable"
	"graphview.dev/graphview/wording"
)

// relation is what leads from a line to one below it, in the order of drawing.
type relation uint8

const (
	owns relation = iota
	uses
	names
	lacksOwner // an owner that is not there
	ownedBy    // from here on in reverse
	usedBy
	namedBy
)

// words of a line if the reference has none. An owned object needs none in a tree.
var words = [...]string{owns: "", uses: "uses", names: "names", lacksOwner: "owner", ownedBy: "owned by", usedBy: "used by", namedBy: "named by"}

// Verb says what an arc means, from the referrer to what it refers to.
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

// lead leads in the line of a branch, "" where nothing has to be said.
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
	absence  string // what is known of it, where it is not in the graph
	wrong    bool   // with that
	fields   []string
	words    []string     // what the reference means
	alike    []client.Key // other objects of the same resource, which objects that are folded refer to
	count    int          // of the objects for which to stands; 0 and 1 for itself
}

// branches of each vertex, sorted, each vertex below another once. In reverse
// they lead to what depends on a vertex, otherwise to what it is made of.
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
			// Whom it is missing to is there.
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

// owned are the vertices with an owner that is in the graph, other than
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
