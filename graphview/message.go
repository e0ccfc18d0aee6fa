package graphview

import (
	"github.com/go-json-experiment/json/jsontext"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/watch"
)

// frameRoom is what a message needs beside its actions; warnings, which are
// few and bounded, come on top.
const frameRoom = 4 << 10

// actionRoom is what an action takes beside names and content, most of the time;
// tailRoom what a message does beside its actions.
const (
	actionRoom = 160
	tailRoom   = 128
)

// frameBuilder writes changes as messages. Actions start in the first frame
// that has room.
type frameBuilder struct {
	frames []*Frame
	buf    []byte // of the frame under way: {"actions":[ and actions so far
	count  int    // of those
	reset  bool   // the next frame tells the subscriber to forget everything
	err    error
	large  *largeFrames // for large objects; nil: they are like others
}

const actionsOpen = `{"actions":[`

// newFrameBuilder is for changes of about size bytes in all.
func newFrameBuilder(reset bool, size int) *frameBuilder {
	b := &frameBuilder{reset: reset}
	if size > 0 {
		b.buf = make([]byte, 0, min(size+tailRoom, MaxFrameBytes))
	}
	return b
}

// sizeOf is about the size of an action, rather more than less.
func sizeOf(c *graph.Change) int {
	n := actionRoom + 2*len(c.Vertex.Name) + 2*len(c.To.Name)
	switch content := c.Payload.(type) {
	case []byte:
		n += len(content)
	case *watch.Object:
		n += content.Size()
	}
	for _, f := range c.Fields {
		n += len(f) + len(`"",`)
	}
	return n
}

// add appends one action; where it makes the frame too large it begins the next.
func (b *frameBuilder) add(c *graph.Change) {
	if b.large != nil {
		if key, ok := largeKeyOf(c); ok {
			b.addLarge(key, c)
			return
		}
	}
	if b.count == 0 {
		b.buf = append(b.buf[:0], actionsOpen...)
	}
	start := len(b.buf)
	if b.count > 0 {
		b.buf = append(b.buf, ',')
	}
	b.buf = b.appendAction(b.buf, c)
	if b.count > 0 && len(b.buf)+frameRoom > MaxFrameBytes {
		last := append([]byte(actionsOpen), b.buf[start+1:]...)
		b.buf = b.buf[:start]
		b.close("", false, nil, nil)
		b.buf = last
	}
	b.count++
}

// addLarge appends an action that has a frame of its own.
func (b *frameBuilder) addLarge(key largeKey, c *graph.Change) {
	b.close("", false, nil, nil)
	b.frames = append(b.frames, b.large.frame(key, func() *Frame {
		alone := newFrameBuilder(false, sizeOf(c))
		alone.add(c)
		alone.close("", false, nil, nil)
		if alone.err != nil {
			b.err = alone.err
		}
		return alone.frames[0]
	}))
}

// close ends the frame under way, if it would say anything.
func (b *frameBuilder) close(rev string, synced bool, set, cleared []warning) {
	if b.count == 0 && rev == "" && len(set) == 0 && len(cleared) == 0 && !b.reset {
		return
	}
	f := &Frame{Rev: rev, Synced: synced, Reset: b.reset}
	out := append([]byte(nil), '{')
	actions := 0
	if b.count > 0 {
		out = append(b.buf, ']')
		actions = len(b.buf)
	}
	member := func(name string) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, '"')
		out = append(out, name...)
		out = append(out, '"', ':')
	}
	from, to := 0, 0
	if len(set) > 0 {
		member("warnings")
		from = len(out) + 1
		out = appendWarnings(out, set)
		to = len(out) - 1
	}
	if rev != "" {
		member("rev")
		out = appendString(out, rev)
	}
	if synced {
		member("synced")
		out = append(out, "true"...)
	}
	if b.reset {
		member("reset")
		out = append(out, "true"...)
	}
	if len(cleared) > 0 {
		member("cleared")
		out = appendWarnings(out, cleared)
	}
	out = append(out, '}')
	f.JSON = out
	if b.count > 0 {
		f.Actions = out[len(actionsOpen):actions]
	}
	f.Warnings = out[from:to]
	b.frames = append(b.frames, f)
	b.buf, b.count, b.reset = nil, 0, false
}

func appendWarnings(dst []byte, list []warning) []byte {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = list[i].appendJSON(dst)
	}
	return append(dst, ']')
}

func (b *frameBuilder) appendAction(dst []byte, c *graph.Change) []byte {
	switch c.Op {
	case graph.SetVertex:
		dst = append(dst, `{"svx":{"vx":`...)
		dst = appendKey(dst, &c.Vertex)
		dst = b.appendContent(dst, c.Payload)
		return append(dst, `}}`...)
	case graph.DeleteVertex:
		dst = append(dst, `{"dvx":{"vx":`...)
		dst = appendKey(dst, &c.Vertex)
		return append(dst, `}}`...)
	case graph.SetArc:
		dst = append(dst, `{"sarc":`...)
	case graph.DeleteArc:
		dst = append(dst, `{"darc":`...)
	}
	dst = append(dst, `{"s":`...)
	dst = appendKey(dst, &c.Vertex)
	dst = append(dst, `,"d":`...)
	dst = appendKey(dst, &c.To)
	dst = append(dst, `,"t":"`...)
	dst = append(dst, c.Type.String()...)
	dst = append(dst, '"')
	dst = appendAttributes(dst, c)
	return append(dst, `}}`...)
}

// appendContent writes an object as o, or the parts of it that a view selected
// as j; nothing where there is nothing to show.
func (b *frameBuilder) appendContent(dst []byte, payload any) []byte {
	switch content := payload.(type) {
	case []byte:
		if len(content) > len("[]") {
			dst = append(dst, `,"j":`...)
			dst = append(dst, content...)
		}
	case *watch.Object:
		if !content.HasContent() {
			break
		}
		start := len(dst)
		dst = append(dst, `,"o":`...)
		out, err := content.AppendJSON(dst)
		if err != nil {
			b.err = err
			return dst[:start]
		}
		dst = out
	}
	return dst
}

func appendAttributes(dst []byte, c *graph.Change) []byte {
	if !c.Controller && !c.BlockOwnerDeletion && !c.Missing && len(c.Fields) == 0 {
		return dst
	}
	dst = append(dst, `,"a":{`...)
	open := len(dst)
	member := func(text string) {
		if len(dst) > open {
			dst = append(dst, ',')
		}
		dst = append(dst, text...)
	}
	if c.Controller {
		member(`"c":true`)
	}
	if c.BlockOwnerDeletion {
		member(`"b":true`)
	}
	if c.Missing {
		member(`"e":true`)
	}
	if len(c.Fields) > 0 {
		member(`"f":[`)
		for i, f := range c.Fields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, f)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

func appendKey(dst []byte, k *graph.Key) []byte {
	dst = append(dst, `{"g":`...)
	dst = appendString(dst, k.Group)
	dst = append(dst, `,"v":`...)
	dst = appendString(dst, k.Version)
	dst = append(dst, `,"r":`...)
	dst = appendString(dst, k.Resource.Resource)
	if k.Namespace != "" {
		dst = append(dst, `,"ns":`...)
		dst = appendString(dst, k.Namespace)
	}
	dst = append(dst, `,"n":`...)
	dst = appendString(dst, k.Name)
	return append(dst, '}')
}

// appendString writes a JSON string; invalid UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	// The error is about invalid UTF-8, which has been replaced.
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
