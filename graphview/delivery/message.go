package delivery

import (
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"graphview.dev/api/contents"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/wording"
)

// frameRoom is the room that a message has for all but its actions and warnings, in bytes.
const frameRoom = 4 << 10

// Sizes in bytes that are usually enough: actionRoom for an action without names and content, wordRoom
// for a word of an arc, summaryRoom for a summary, tailRoom for a message without its actions.
const (
	wordRoom    = 24
	actionRoom  = 160
	summaryRoom = 160
	tailRoom    = 128
)

// frameBuilder encodes changes and warnings as messages. It begins a new frame when the open frame
// is full.
type frameBuilder struct {
	frames []*Frame
	buf    []byte // the open frame: {"actions":[ and the actions so far
	count  int    // number of actions in buf
	reset  bool   // the next frame replaces the whole graph of the subscriber
	keep   string // the buckets that the reset keeps, "" for none
	tags   bool   // vertices have the tag of their content
	err    error
	large  *largeFrames // nil: large objects get no messages of their own

	// set and cleared are the warnings of the open frame, separated by commas.
	set, cleared []byte
	kinds        []byte // of the open frame, separated by commas
}

const actionsOpen = `{"actions":[`

func newFrameBuilder(reset bool) *frameBuilder { return &frameBuilder{reset: reset} }

// grow allocates a buffer for actions of about size bytes.
func (b *frameBuilder) grow(size int) {
	if size > 0 {
		b.buf = make([]byte, 0, min(size+tailRoom, MaxFrameBytes))
	}
}

// sizeOf estimates the encoded size of an action in bytes. The estimate is rather too high.
func sizeOf(c *graph.Change, content Content) int {
	n := actionRoom + 2*len(c.Vertex.Name) + 2*len(c.To.Name)
	switch {
	case c.Op != graph.SetVertex:
	case content == WholeObject:
		n += payloadSize(c)
	case content == SummaryOnly:
		n += summaryRoom
	}
	for _, f := range c.Fields {
		n += len(f) + len(`"",`) + wordRoom
	}
	return n
}

// add appends one action to the open frame, or to a new frame if the open frame is full.
func (b *frameBuilder) add(c *graph.Change) {
	if b.large != nil {
		if key, ok := largeKeyOf(c); ok {
			key.tags = b.tags
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
		b.close("", false)
		b.buf = last
	}
	b.count++
}

// warn adds the warnings that were set and cleared. It is called after the last add.
func (b *frameBuilder) warn(set, cleared []Warning) {
	appendAll := func(to *[]byte, list []Warning) {
		for i := range list {
			text, _ := json.Marshal(&list[i]) // a warning has only strings
			if len(b.buf)+len(b.set)+len(b.cleared)+len(text)+frameRoom > MaxFrameBytes {
				b.close("", false)
			}
			if len(*to) > 0 {
				*to = append(*to, ',')
			}
			*to = append(*to, text...)
		}
	}
	appendAll(&b.set, set)
	appendAll(&b.cleared, cleared)
}

// addLarge adds an action as a frame of its own. It reuses the frame if a subscriber still holds it.
func (b *frameBuilder) addLarge(key largeKey, c *graph.Change) {
	b.close("", false)
	f := b.large.Get(key)
	if f == nil {
		// Encoding is slow, so it holds no lock: two goroutines may encode the same frame.
		alone := newFrameBuilder(false)
		alone.tags = b.tags
		alone.grow(sizeOf(c, WholeObject))
		alone.add(c)
		alone.close("", false)
		if alone.err != nil {
			b.err = alone.err
		}
		alone.frames[0].shared = true
		f = b.large.Add(key, alone.frames[0])
	}
	b.frames = append(b.frames, f)
}

// close ends the open frame, unless it is empty.
func (b *frameBuilder) close(rev string, synced bool) {
	if b.count == 0 && rev == "" && len(b.set) == 0 && len(b.cleared) == 0 && len(b.kinds) == 0 && !b.reset {
		return
	}
	f := &Frame{Rev: rev, Synced: synced, Reset: b.reset}
	out := append([]byte(nil), '{')
	actions := 0
	if b.count > 0 {
		out = append(b.buf, ']') //nolint:gocritic // it goes on there
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
	list := func(name string, elements []byte) (from, to int) {
		if len(elements) == 0 {
			return 0, 0
		}
		member(name)
		out = append(out, '[')
		from = len(out)
		out = append(out, elements...)
		to = len(out)
		out = append(out, ']')
		return from, to
	}
	from, to := list("warnings", b.set)
	kindsFrom, kindsTo := list("kinds", b.kinds)
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
		if b.keep != "" {
			member("keep")
			out = appendString(out, b.keep)
		}
	}
	list("cleared", b.cleared)
	out = append(out, '}')
	f.JSON = out
	if b.count > 0 {
		f.Actions = out[len(actionsOpen):actions]
	}
	f.Warnings, f.Kinds = out[from:to], out[kindsFrom:kindsTo]
	b.frames = append(b.frames, f)
	b.buf, b.count, b.reset, b.keep, b.set, b.cleared, b.kinds = nil, 0, false, "", nil, nil, nil
}

func (b *frameBuilder) appendAction(dst []byte, c *graph.Change) []byte {
	switch c.Op {
	case graph.SetVertex:
		dst = append(dst, `{"svx":{"vx":`...)
		dst = appendKey(dst, &c.Vertex)
		content := len(dst)
		dst = b.appendContent(dst, c)
		if b.tags && len(dst) > content {
			tag := contents.TagOf(dst[content:])
			dst = append(append(append(dst, `,"c":"`...), tag.String()...), '"')
		}
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
	return append(appendArc(dst, c), '}')
}

// appendArc writes an arc with its attributes.
func appendArc(dst []byte, c *graph.Change) []byte {
	dst = append(dst, `{"s":`...)
	dst = appendKey(dst, &c.Vertex)
	dst = append(dst, `,"d":`...)
	dst = appendKey(dst, &c.To)
	dst = append(dst, `,"t":"`...)
	dst = append(dst, c.Type.String()...)
	dst = append(dst, '"')
	return append(appendAttributes(dst, c), '}')
}

// summaryText is a summary that is sent instead of an object.
type summaryText string

// appendContent appends the content of a vertex: an object as o, the parts that the view selects as
// j or, with names, as f, or a summary as m. It appends nothing if there is no content.
func (b *frameBuilder) appendContent(dst []byte, c *graph.Change) []byte {
	start := len(dst)
	var err error
	switch part := c.Part.(type) {
	case []byte:
		return appendPart(dst, part)
	case Part:
		o, ok := c.Payload.(Object)
		if !ok {
			return dst
		}
		var out []byte
		if out, err = part.AppendJSON(append(dst, partOpen...), o); err == nil {
			if len(out)-start-len(partOpen) <= len("[]") {
				return dst
			}
			return nameParts(out, start)
		}
	}
	switch content := c.Payload.(type) {
	case summaryText:
		if len(content) > 0 {
			dst = append(append(dst, `,"m":`...), content...)
		}
	case Object:
		if err != nil || !content.HasContent() {
			break
		}
		var out []byte
		if out, err = content.AppendJSON(append(dst, `,"o":`...)); err == nil {
			return out
		}
	}
	if err != nil {
		b.err = err
	}
	return dst
}

// The members of parts: without names, and with names.
const (
	partOpen  = `,"j":`
	namedOpen = `,"f":`
)

func appendPart(dst, part []byte) []byte {
	if len(part) <= len("[]") {
		return dst
	}
	return nameParts(append(append(dst, partOpen...), part...), len(dst))
}

// nameParts renames the member at start from j to f if its value is an object: the parts have names.
func nameParts(dst []byte, start int) []byte {
	if dst[start+len(partOpen)] == '{' {
		copy(dst[start:], namedOpen)
	}
	return dst
}

func appendAttributes(dst []byte, c *graph.Change) []byte {
	if !c.Controller && !c.BlockOwnerDeletion && !c.Missing && !c.Optional && len(c.Fields) == 0 {
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
		if c.Outside != graph.Nowhere {
			dst = append(append(append(dst, `,"x":"`...), c.Outside.String()...), '"')
		}
	}
	if c.Optional {
		member(`"o":true`)
	}
	if len(c.Fields) > 0 {
		member(`"f":[`)
		var list [maxWords]string
		dst = appendStrings(dst, pathsOf(list[:0], c))
		dst = append(dst, `],"w":[`...)
		dst = append(appendStrings(dst, wordsOf(list[:0], c)), ']')
	}
	return append(dst, '}')
}

// pathsOf appends the paths of an arc's fields.
func pathsOf(dst []string, c *graph.Change) []string {
	for i, f := range c.Fields {
		path, _ := graph.CutWord(f)
		if i > 0 && path == dst[len(dst)-1] {
			continue // the same path with another word
		}
		dst = append(dst, path)
	}
	return dst
}

// wordsOf appends the words for an arc's fields, each word once and at most maxWords.
func wordsOf(dst []string, c *graph.Change) []string {
	from := wording.Resource{Group: c.Vertex.Group, Resource: c.Vertex.Resource.Resource}
	to := wording.Resource{Group: c.To.Group, Resource: c.To.Resource.Resource}
	for _, field := range c.Fields {
		field, word := graph.CutWord(field)
		if word == "" {
			word = wording.Of(from, field, to)
		}
		if len(dst) < maxWords && !slices.Contains(dst, word) {
			dst = append(dst, word)
		}
	}
	return dst
}

func appendStrings(dst []byte, list []string) []byte {
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, s)
	}
	return dst
}

// maxWords is the maximum number of words of an arc, equal to that of its fields.
const maxWords = 4

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

// appendString writes a JSON string. Invalid UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	// The only error is invalid UTF-8, which AppendQuote has replaced.
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
