package command

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"graphview.dev/client"
	"graphview.dev/cmd/kubectl-graphview/internal/outline"
	"graphview.dev/graphview/printable"
)

var seed = maphash.MakeSeed()

// journal writes the changes of messages as lines. After a reset it writes the
// difference and not the whole graph again.
type journal struct {
	*cli
	kinds      *kinds
	timestamps bool
	quiet      bool // until the graph is complete
	known      map[any]entry
	complete   bool
}

// entry is the last line about a vertex, an arc or a warning.
type entry struct {
	text   string
	digest uint64
	stale  bool // a reset has come, and it has not been set since
}

func newJournal(c *cli, namespace string, g *client.Graph, timestamps, changesOnly bool) *journal {
	return &journal{cli: c, kinds: c.newKinds(namespace, g), timestamps: timestamps, quiet: changesOnly, known: map[any]entry{}}
}

// print writes messages until the context is done, which is no error.
func (c *cli) print(ctx context.Context, f *follower, asJSON bool, j *journal) error {
	stop := f.progress.start(ctx)
	stopped := false
	defer func() {
		if !stopped {
			stop()
		}
	}()
	for {
		m, err := f.receive(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if !stopped && (m.Synced || len(m.Actions) > 0) {
			stop()
			stopped = true
		}
		if asJSON {
			_, err = c.Out.Write(append(bytes.TrimRight(m.JSON, "\n"), '\n'))
		} else {
			err = j.write(m)
		}
		if err != nil {
			return err
		}
	}
}

func (j *journal) write(m *client.Received) error {
	var out bytes.Buffer
	if m.Reset {
		for id, e := range j.known {
			e.stale = true
			j.known[id] = e
		}
	}
	for i := range m.Actions {
		switch a := &m.Actions[i]; {
		case a.SetVertex != nil:
			j.set(&out, a.SetVertex.Key, j.vertex(a.SetVertex))
		case a.DeleteVertex != nil:
			j.gone(&out, a.DeleteVertex.Key)
		case a.SetArc != nil:
			j.set(&out, a.SetArc.Key(), j.arc(a.SetArc))
		case a.DeleteArc != nil:
			j.gone(&out, a.DeleteArc.Key())
		}
	}
	for i := range m.Cleared {
		id := warningID(&m.Cleared[i])
		if e, known := j.known[id]; m.Own && known {
			// After a lost connection the server sends the present warnings again.
			e.stale = true
			j.known[id] = e
		} else {
			j.gone(&out, id)
		}
	}
	for i := range m.Warnings {
		w := &m.Warnings[i]
		j.set(&out, warningID(w), entry{text: printable.Text("! " + w.Type + ": " + w.Message), digest: maphash.String(seed, w.Message)})
	}
	j.settle(&out, m)
	if m.Error != nil {
		j.linef(&out, "%s", j.paint.Bad("the server ends the stream: "+printable.Text(m.Error.Message)))
	}
	_, err := j.Out.Write(out.Bytes())
	return err
}

// settle writes the deletion of the entries that are missing when the graph is complete again.
func (j *journal) settle(out *bytes.Buffer, m *client.Received) {
	if !m.Synced {
		return
	}
	j.quiet = false
	var gone []string
	maps.DeleteFunc(j.known, func(_ any, e entry) bool {
		if e.stale {
			gone = append(gone, e.text)
		}
		return e.stale
	})
	slices.Sort(gone)
	for _, text := range gone {
		j.minus(out, text)
	}
	if !j.complete {
		j.complete = true
		j.linef(out, "%s", j.paint.Strong("= the graph is complete: "+j.sum(j.kinds.graph)))
	}
}

func (j *journal) set(out *bytes.Buffer, id any, e entry) {
	before, known := j.known[id]
	j.known[id] = e
	switch {
	case j.quiet, known && before.digest == e.digest && before.text == e.text:
	case strings.HasPrefix(e.text, "!"):
		j.linef(out, "%s", j.paint.Bad(e.text))
	case known:
		j.linef(out, "~ %s", e.text)
	default:
		j.linef(out, "%s %s", j.paint.Good("+"), e.text)
	}
}

func (j *journal) gone(out *bytes.Buffer, id any) {
	if e, known := j.known[id]; known {
		delete(j.known, id)
		j.minus(out, e.text)
	}
}

func (j *journal) minus(out *bytes.Buffer, text string) {
	switch {
	case j.quiet:
	case strings.HasPrefix(text, "!"):
		j.linef(out, "%s", "! over: "+strings.TrimPrefix(text, "! "))
	default:
		j.linef(out, "%s %s", j.paint.Bad("-"), text)
	}
}

func (j *journal) linef(out *bytes.Buffer, format string, args ...any) {
	fmt.Fprintf(out, "%s"+format+"\n", append([]any{stamp(j.timestamps)}, args...)...)
}

func (j *journal) vertex(v *client.Vertex) entry {
	e := entry{text: j.kinds.name(v.Key), digest: maphash.Bytes(seed, v.Object) ^ maphash.Bytes(seed, v.Parts) ^ maphash.Bytes(seed, v.Fields)}
	if j.local.manifests != nil {
		return e // nothing has run
	}
	if text, bad := state(v); bad {
		e.text += "  " + j.paint.Bad(text)
	} else if text != "" {
		e.text += "  " + text
	}
	return e
}

func (j *journal) arc(a *client.Arc) entry {
	text := fmt.Sprintf("%s %s %s", j.kinds.name(a.From), outline.Verb(a.Type, a.Attributes), j.kinds.name(a.To))
	if absence, wrong := outline.Absence(a.Attributes); wrong {
		text += "  " + j.paint.Bad(absence)
	} else if absence != "" {
		text += "  " + j.paint.Faint(absence)
	}
	if len(a.Attributes.Fields) > 0 {
		text += "  " + j.paint.Faint(printable.Text("("+strings.Join(a.Attributes.Fields, ", ")+")"))
	}
	return entry{text: text}
}

func warningID(w *client.Warning) any { return fmt.Sprintf("%s %v", w.Type, w.Attributes) }
