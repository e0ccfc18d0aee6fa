package outline

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"graphview.dev/client"
	"graphview.dev/graphview/printable"
)

// Options of an outline. The zero value draws the whole graph, from the vertices without
// incoming arcs.
type Options struct {
	// Roots are the first vertices, in this order. Without any, they are the vertices without incoming arcs.
	Roots []client.Key
	// Only draws the subtrees of Roots alone. Otherwise the rest follows.
	Only bool
	// Reverse draws the dependents of a vertex below it.
	Reverse bool
	// Fold leaves out repeated branches, and draws vertices that need attention first.
	Fold bool
	// Depth bounds the levels below a root; 0: all.
	Depth int
	// Name returns the name of a vertex. Nil: its key.
	Name func(client.Key) string
	// State returns the health of a vertex, and whether it needs attention. Nil: unknown.
	State func(client.Key) (text string, bad bool)
	// Remote returns a line for each reference of a vertex to another cluster. Nil: none.
	Remote func(client.Key) []string
	// Colours of the lines' parts. Nil: none.
	Colours Colours
}

// Colours paint parts of a line.
type Colours interface {
	// Bad is for missing vertices and for vertices that need attention, Faint for lines and remarks.
	Bad(text string) string
	Faint(text string) string
	// Strong is for roots.
	Strong(text string) string
}

// Write draws a graph and returns the folded parts. The error is one of w.
func Write(w io.Writer, g *client.Graph, o Options) (Folded, error) {
	if o.Name == nil {
		o.Name = client.Key.String
	}
	o.Name = once(o.Name) // sorting calls it often
	if o.State == nil {
		o.State = func(client.Key) (string, bool) { return "", false }
	}
	if o.Colours == nil {
		o.Colours = plain{}
	}
	if o.Remote == nil || o.Reverse {
		o.Remote = func(client.Key) []string { return nil }
	}
	l := &layout{remote: o.Remote, graph: g, branches: branches(g, o.Reverse, o.Name), depth: o.Depth, drawn: map[client.Key]int{}, deeper: map[client.Key]bool{}}
	if !o.Reverse && !o.Only {
		l.owned = owned(g)
	}
	var folded Folded
	if o.Fold && !o.Reverse {
		folded, l.away = fold(g, l.branches, &o)
	}
	roots := o.Roots
	if len(roots) == 0 && !o.Only {
		roots = tops(g, l.branches, o.Name)
	}
	if o.Fold {
		bad := troubles(l.branches, o.State)
		troubleFirst(l.branches, bad)
		roots = slices.Clone(roots)
		slices.SortStableFunc(roots, func(a, b client.Key) int {
			return cmp.Compare(rankOf(bad[a]), rankOf(bad[b]))
		})
	}
	for _, key := range roots {
		l.begin(key)
	}
	if !o.Only {
		l.rest(o.Name)
	}
	out := bufio.NewWriter(w)
	for i := range l.lines {
		l.write(out, i, &o)
	}
	return folded, out.Flush()
}

func rankOf(bad bool) int {
	if bad {
		return 0
	}
	return 1
}

// once returns a function that calls name once for each key.
func once(name func(client.Key) string) func(client.Key) string {
	names := map[client.Key]string{}
	return func(key client.Key) string {
		text, ok := names[key]
		if !ok {
			text = name(key)
			names[key] = text
		}
		return text
	}
}

func (l *layout) write(out *bufio.Writer, i int, o *Options) {
	at := &l.lines[i]
	var stem strings.Builder
	for _, more := range at.trail {
		if more {
			stem.WriteString("│   ")
		} else {
			stem.WriteString("    ")
		}
	}
	if !at.begins {
		if at.last {
			stem.WriteString("└── ")
		} else {
			stem.WriteString("├── ")
		}
	}
	if at.text != "" {
		out.WriteString(o.Colours.Faint(stem.String()) + at.text + "\n")
		return
	}
	name := o.Name(at.branch.to)
	if at.branch.count > 1 {
		kind, one, _ := strings.Cut(name, "/")
		name = fmt.Sprintf("%s ×%d", kind, at.branch.count)
		if _, bad := o.State(at.branch.to); bad {
			name += " (" + one + ", …)" // something to begin with
		}
	}
	if at.begins {
		name = o.Colours.Strong(name)
	} else {
		stem.WriteString(at.branch.lead())
	}
	out.WriteString(o.Colours.Faint(stem.String()))
	out.WriteString(name)
	if at.branch.absence != "" {
		paint := o.Colours.Faint
		if at.branch.wrong {
			paint = o.Colours.Bad
		}
		out.WriteString("  " + paint(at.branch.absence))
		if len(at.branch.fields) > 0 {
			out.WriteString("  " + o.Colours.Faint(printable.Text("("+strings.Join(at.branch.fields, ", ")+")")))
		}
	} else if text, bad := o.State(at.branch.to); text != "" {
		if bad {
			text = o.Colours.Bad(text)
		}
		out.WriteString("  " + text)
	}
	if remark := l.remark(i); remark != "" {
		out.WriteString("  " + o.Colours.Faint(remark))
	}
	out.WriteByte('\n')
}

// remark returns a remark about the part of a vertex that is drawn in another line, if there is any.
func (l *layout) remark(i int) string {
	at := &l.lines[i]
	drawn, done := l.drawn[at.branch.to]
	switch {
	case len(l.branches[at.branch.to]) == 0 && at.hidden == 0 || done && drawn == i:
		return ""
	case done && drawn < i:
		return "(above)"
	case done:
		return "(below)"
	case at.hidden > 0:
		return fmt.Sprintf("(%d more)", at.hidden)
	default:
		return "(more)"
	}
}

// plain has no colours.
type plain struct{}

func (plain) Bad(text string) string    { return text }
func (plain) Faint(text string) string  { return text }
func (plain) Strong(text string) string { return text }
