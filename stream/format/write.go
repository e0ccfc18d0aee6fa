package format

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"graphview.dev/graphview/printable"
)

// pieceBytes is the size of one write.
const pieceBytes = 32 << 10

// Write writes the graph. An error is one of w, or says that there is no such format.
func (g *Graph) Write(w io.Writer, f Format) error {
	if _, err := Parse(string(f)); err != nil {
		return err
	}
	// After an error, writes are dropped and Flush returns the error.
	out := bufio.NewWriterSize(w, pieceBytes)
	p := g.plan()
	switch f {
	case Mermaid:
		writeMermaid(out, p)
	case GraphML:
		writeGraphML(out, p)
	default:
		writeDOT(out, p)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", f, err)
	}
	return nil
}

// plan is a graph in the order of the text.
type plan struct {
	*Graph
	order []int32 // numbers of keys
	rank  []int32 // the inverse: indexes in order, by number
}

// plan sorts vertices by namespace, those without one first, and then by kind
// and name; arcs, in place, by their ends.
func (g *Graph) plan() *plan {
	p := &plan{Graph: g, order: make([]int32, len(g.keys)), rank: make([]int32, len(g.keys))}
	for n := range p.order {
		p.order[n] = int32(n)
	}
	slices.SortFunc(p.order, func(a, b int32) int { return compareKeys(&g.keys[a], &g.keys[b]) })
	for place, n := range p.order {
		p.rank[n] = int32(place)
	}
	slices.SortStableFunc(p.arcs, func(a, b arc) int {
		if a.from != b.from {
			return int(p.rank[a.from] - p.rank[b.from])
		}
		if a.to != b.to {
			return int(p.rank[a.to] - p.rank[b.to])
		}
		return strings.Compare(a.kind, b.kind)
	})
	return p
}

func compareKeys(a, b *Key) int {
	for _, pair := range [...][2]string{
		{a.Namespace, b.Namespace}, {a.Group, b.Group}, {a.Resource, b.Resource}, {a.Name, b.Name}, {a.Version, b.Version},
	} {
		if c := strings.Compare(pair[0], pair[1]); c != 0 {
			return c
		}
	}
	return 0
}

// namespaces calls each with the range of indexes of each namespace's vertices. Cluster-scoped objects have the
// namespace "" and come first.
func (p *plan) namespaces(each func(namespace string, from, to int)) {
	for from := 0; from < len(p.order); {
		namespace := p.at(from).Namespace
		to := from + 1
		for to < len(p.order) && p.at(to).Namespace == namespace {
			to++
		}
		each(namespace, from, to)
		from = to
	}
}

// at returns the key at an index of the order.
func (p *plan) at(place int) *Key { return &p.keys[p.order[place]] }

// missing reports whether there is no vertex at an index.
func (p *plan) missing(place int) bool { return !p.present[p.order[place]] }

// healthAt returns the health of the vertex at an index, "" for none.
func (p *plan) healthAt(place int) string { return p.health[p.order[place]] }

// comments returns the lines before the graph, as clean text.
func (p *plan) comments() []string {
	name := p.Name
	if p.Namespace != "" {
		name = p.Namespace + "/" + name
	}
	vertices, arcs := p.Len()
	first := fmt.Sprintf("%d vertices, %d arcs", vertices, arcs)
	if name != "" {
		first = name + ": " + first
	}
	lines := []string{printable.Text(first)}
	if p.Incomplete {
		lines = append(lines, "not complete: the view has not synced")
	}
	for _, w := range slices.SortedFunc(slices.Values(p.warnings), compareWarnings) {
		lines = append(lines, printable.Text(w.Type+": "+w.Message))
	}
	return lines
}

func compareWarnings(a, b Warning) int {
	return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.Message, b.Message))
}

// title returns the resource of a key in the usual form: deployments.apps.
func (k *Key) title() string {
	if k.Group == "" {
		return k.Resource
	}
	return k.Resource + "." + k.Group
}
