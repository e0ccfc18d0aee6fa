package command

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/printable"
)

// description is a GraphView on one screen. Left-out lines are counted.
type description struct {
	view     *v1alpha1.GraphView
	problems []problem
	// unknown is the reason why the problems are not known.
	unknown error
	// denied counts resources whose problems the user may not see.
	denied int
	paint  paint
}

// Bounds for a screen of 50 lines of at most a hundred characters.
const (
	descriptionWidth = 100
	mostMessageLines = 3
	// leastMessageWidth is the width beside the name of a condition that is too long.
	leastMessageWidth = 40
	// allMessageLines bounds the messages of all conditions; conditions that need attention
	// share them.
	allMessageLines = 18
	mostProblems    = 7
	mostUnreadable  = 5
	mostCountLines  = 3
	mostWarnings    = 3
	indent          = "  "
)

func (d *description) write(w io.Writer) {
	d.writeHead(w)
	d.writeConditions(w)
	d.writeProblems(w)
	d.writeResources(w)
	d.writeWarnings(w)
}

// writeHead writes the contents of the graph in numbers.
func (d *description) writeHead(w io.Writer) {
	s, account := &d.view.Status, "none: it has what the operator may read"
	if name := d.view.Spec.ServiceAccountName; name != "" {
		account = name
	}
	fmt.Fprintf(w, "%s, ServiceAccount %s\n", d.paint.Strong("GraphView "+d.view.Namespace+"/"+d.view.Name), account)
	parts := []string{count(int(s.Vertices), "object"), count(int(s.Arcs), "reference")}
	if d.view.Spec.Roots != nil {
		parts = append(parts, count(int(s.Roots), "root"))
	}
	parts = append(parts, count(int(s.Subscribers), "subscriber"))
	text := strings.Join(parts, ", ")
	if h := s.Health; h != nil {
		var states []string
		for _, state := range []struct {
			n    int64
			name string
		}{{h.Degraded, "degraded"}, {h.Terminating, "terminating"}, {h.Progressing, "progressing"}, {h.Suspended, "suspended"}, {h.OK, "ok"}, {h.Unknown, "unknown"}} {
			if state.n > 0 {
				states = append(states, fmt.Sprintf("%d %s", state.n, state.name))
			}
		}
		if s.Missing != nil && *s.Missing > 0 {
			states = append([]string{count(int(*s.Missing), "missing reference")}, states...)
		}
		if len(states) > 0 {
			text += ": " + strings.Join(states, ", ")
		}
	}
	fmt.Fprintln(w, text)
}

// conditionsInOrder is the order of conditions that need no attention.
var conditionsInOrder = []string{
	v1alpha1.ConditionStalled, v1alpha1.ConditionAccepted, v1alpha1.ConditionReady, v1alpha1.ConditionComplete, v1alpha1.ConditionEffective, v1alpha1.ConditionHealthy,
}

// writeConditions writes one line for each condition that needs no attention, and the message of
// the others.
func (d *description) writeConditions(w io.Writer) {
	all := slices.Clone(d.view.Status.Conditions)
	if len(all) == 0 {
		fmt.Fprintln(w, "\nNo operator has looked at it yet.")
		return
	}
	slices.SortStableFunc(all, func(a, b metav1.Condition) int {
		rank := func(c *metav1.Condition) int {
			if wrong(c) {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(slices.Index(conditionsInOrder, a.Type), slices.Index(conditionsInOrder, b.Type)))
	})
	fmt.Fprintln(w)
	wrongs, accepted := 0, meta.FindStatusCondition(all, v1alpha1.ConditionAccepted)
	for i := range all {
		if wrong(&all[i]) {
			wrongs++
		}
	}
	most := max(mostMessageLines, allMessageLines/max(wrongs, 1))
	for i := range all {
		c := &all[i]
		head := fmt.Sprintf("%-9s  %-7s  ", c.Type, c.Status)
		if !wrong(c) {
			fmt.Fprintln(w, head+c.Reason)
			continue
		}
		message := c.Message
		if repeats(c, accepted) {
			message = "see Accepted."
		}
		lines := wrapEach(c.Reason+": "+message, max(descriptionWidth-len(head), leastMessageWidth), most)
		fmt.Fprintln(w, d.paint.Bad(head+lines[0]))
		writeIndented(w, lines[1:])
	}
	if d.view.Status.ObservedGeneration != d.view.Generation {
		fmt.Fprintf(w, "This is of generation %d; the operator has not looked at %d yet.\n", d.view.Status.ObservedGeneration, d.view.Generation)
	}
}

// repeats reports whether a condition has the message with which Accepted refuses the spec. Ready has it for its
// column and for clients.
func repeats(c, accepted *metav1.Condition) bool {
	return accepted != nil && wrong(accepted) && c.Type != accepted.Type && strings.HasSuffix(c.Message, accepted.Message)
}

// wrong reports whether a condition needs attention.
func wrong(c *metav1.Condition) bool {
	return (c.Status == metav1.ConditionTrue) == (c.Type == v1alpha1.ConditionStalled)
}

// writeProblems writes the objects that are degraded, progressing or missing.
func (d *description) writeProblems(w io.Writer) {
	switch {
	case d.unknown != nil:
		fmt.Fprintln(w, "\nProblems are not known:")
		writeIndented(w, wrap(d.unknown.Error(), descriptionWidth, mostMessageLines))
		return
	case len(d.problems) == 0 && d.denied == 0:
		return
	}
	fmt.Fprintln(w, "\nProblems:")
	out := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, p := range d.problems[:min(len(d.problems), mostProblems)] {
		fmt.Fprintf(out, "%s%s\t%s\t%s\n", indent, shortened(p.object, descriptionWidth/2), p.state, shortened(p.reason, descriptionWidth/2))
	}
	_ = out.Flush() // its errors are those of w, to which nothing more can be said
	if n := len(d.problems) - mostProblems; n > 0 {
		fmt.Fprintf(w, "%sand %d more: kubectl graphview problems %s -n %s\n", indent, n, d.view.Name, d.view.Namespace)
	}
	if d.denied > 0 {
		fmt.Fprintf(w, "%sYou may not list and watch %s of the graph, whose problems are not here.\n", indent, count(d.denied, "resource"))
	}
}

// writeResources writes the resources that cannot be read or are not complete, and the
// numbers of objects of the others.
func (d *description) writeResources(w io.Writer) {
	all := slices.Clone(d.view.Status.Resources)
	unread := slices.DeleteFunc(slices.Clone(all), func(r v1alpha1.ResourceStatus) bool { return r.Synced && r.Message == "" })
	filled := slices.DeleteFunc(all, func(r v1alpha1.ResourceStatus) bool { return r.Objects == 0 })
	slices.SortStableFunc(filled, func(a, b v1alpha1.ResourceStatus) int { return -cmp.Compare(a.Objects, b.Objects) })
	fmt.Fprintf(w, "\nResources: %d selected, %d with objects\n", d.view.Status.ResourceCount, len(filled))
	for i := range unread[:min(len(unread), mostUnreadable)] {
		r := &unread[i]
		text := nameOf(r) + ": " + cmp.Or(r.Message, "not all of its objects have been listed yet")
		fmt.Fprintln(w, indent+d.paint.Bad(shortened(text, descriptionWidth)))
	}
	if n := len(unread) - mostUnreadable; n > 0 {
		fmt.Fprintf(w, "%sand %d more that cannot be read\n", indent, n)
	}
	var counts []string
	for i := range filled {
		counts = append(counts, fmt.Sprintf("%s %d", nameOf(&filled[i]), filled[i].Objects))
	}
	if len(counts) > 0 {
		writeIndented(w, wrap(strings.Join(counts, ", "), descriptionWidth, mostCountLines))
	}
}

func (d *description) writeWarnings(w io.Writer) {
	all := d.view.Status.Warnings
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, "\nWarnings:")
	for _, text := range all[:min(len(all), mostWarnings)] {
		fmt.Fprintln(w, indent+shortened(text, descriptionWidth))
	}
	if n := len(all) - mostWarnings; n > 0 {
		fmt.Fprintf(w, "%sand %d more: kubectl get graphview %s -n %s -o yaml\n", indent, n, d.view.Name, d.view.Namespace)
	}
}

func nameOf(r *v1alpha1.ResourceStatus) string { return r.Resource + dotted(r.Group) }

func writeIndented(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(w, indent+line)
	}
}

// wrap breaks a text between words into lines of a width. The last line of more than
// most ends in an ellipsis. There is at least one line.
func wrap(text string, width, most int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		word = printable.Text(word)
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = shortened(word, width)
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		case len(lines) == most:
			*last = shortened(*last+" "+word, width)
			return lines
		default:
			lines = append(lines, shortened(word, width))
		}
	}
	return lines
}

// wrapEach is wrap, but each line of the text begins a line as long as there is room.
func wrapEach(text string, width, most int) (lines []string) {
	for text != "" && len(lines) < most-1 {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		lines = append(lines, wrap(line, width, most-len(lines))...)
	}
	switch {
	case text == "" && len(lines) > 0:
		return lines
	case len(lines) < most:
		return append(lines, wrap(text, width, 1)...)
	}
	lines[most-1] = shortened(lines[most-1]+" "+text, width)
	return lines
}

// shortened cuts a text that is longer than a width.
func shortened(text string, width int) string {
	text = oneLine(text)
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}
