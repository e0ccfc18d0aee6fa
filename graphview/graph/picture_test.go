package graph

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// picture is what a lens shows, or a client has: vertices with their content,
// arcs with their attributes.
type picture struct {
	vertices map[Key]string
	arcs     map[string]string
	out      map[Key]map[string]bool
	// absent are the references to what is not in the picture, by place, and missing how
	// many of these there should be: all that are needed, of what the view would have.
	absent  map[Key]int
	missing int
	links   map[string]naiveLink // of a naive picture
}

// naiveLink is an arc, found if it leads to something.
type naiveLink struct {
	from, to Key
	typ      ArcType
	found    bool
}

func newPicture() picture {
	return picture{vertices: map[Key]string{}, arcs: map[string]string{}, out: map[Key]map[string]bool{}}
}

// arcName costs more than all else of a picture if fmt makes it.
func arcName(from, to Key, t ArcType) string {
	return keyName(from) + " -" + strconv.Itoa(int(t)) + "-> " + keyName(to)
}

func keyName(k Key) string {
	r := k.Resource
	return r.Group + "/" + r.Version + "/" + r.Resource + "/" + k.Namespace + "/" + k.Name
}

func (p picture) setArc(from, to Key, t ArcType, attributes string) {
	name := arcName(from, to, t)
	p.arcs[name] = attributes
	if p.out[from] == nil {
		p.out[from] = map[string]bool{}
	}
	p.out[from][name] = true
}

func (p picture) String() string {
	var b strings.Builder
	for _, k := range slices.Sorted(func(yield func(string) bool) {
		for k, v := range p.vertices {
			if !yield(fmt.Sprint(k, " ", v)) {
				return
			}
		}
	}) {
		fmt.Fprintln(&b, k)
	}
	for _, k := range slices.Sorted(maps.Keys(p.arcs)) {
		fmt.Fprintln(&b, k, p.arcs[k])
	}
	return b.String()
}

// outside is what a view can know of what is not in its picture.
func (m *model) outside(l *modelLens, to Key, uid string) Outside {
	var c Coverage
	for kind, r := range l.uses {
		if r == to.Resource {
			c = l.covers[kind]
		}
	}
	if c.Unknown || c.Namespaces != nil && to.Namespace != "" && !c.Namespaces[to.Namespace] {
		return Unknown
	}
	for id, src := range m.sources {
		if o, ok := m.objects[id][to.Namespace+"/"+to.Name]; ok && src.resource == to.Resource && c.Selective && (uid == "" || uid == o.UID) {
			return Elsewhere
		}
	}
	return Nowhere
}

// attributesOf are those of an arc that is set.
func attributesOf(ch Change) string {
	text := fmt.Sprint(ch.Controller, ch.BlockOwnerDeletion, ch.Optional, ch.Fields)
	if ch.Missing {
		text += fmt.Sprint(" missing ", ch.Outside)
	}
	return text
}

// client is a reader that applies what it is given, and complains where the
// order is not the promised one.
type client struct {
	pos Position
	picture
	how  Reading
	most int // changes after which it has enough; 0: never
	set  int // how many elements were set since the last complete picture
}

func (c *client) read(t *testing.T, l *Lens, limit int) bool {
	t.Helper()
	done, err := l.Read(&c.pos, limit, c.how, c.take(t))
	if err != nil {
		*c = client{picture: newPicture(), how: c.how, most: c.most}
		return false
	}
	return done
}

// take applies what a read tells.
func (c *client) take(t *testing.T) func(Change) bool {
	t.Helper()
	taken := 0
	return func(ch Change) bool {
		taken++
		switch ch.Op {
		case SetVertex:
			c.set++
			c.vertices[ch.Vertex] = fmt.Sprint(ch.Payload)
		case DeleteVertex:
			if len(c.out[ch.Vertex]) > 0 {
				t.Fatalf("%v deleted before its arcs %v", ch.Vertex, c.out[ch.Vertex])
			}
			delete(c.vertices, ch.Vertex)
		case SetArc:
			c.set++
			if _, ok := c.vertices[ch.Vertex]; !ok {
				t.Fatalf("arc %v set before its source", arcName(ch.Vertex, ch.To, ch.Type))
			}
			c.setArc(ch.Vertex, ch.To, ch.Type, attributesOf(ch))
		case DeleteArc:
			name := arcName(ch.Vertex, ch.To, ch.Type)
			delete(c.arcs, name)
			delete(c.out[ch.Vertex], name)
		}
		return c.most == 0 || taken < c.most
	}
}
