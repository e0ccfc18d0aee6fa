package delivery

import (
	"encoding/json"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

var (
	pods       = graph.Resource{Version: "v1", Resource: "pods"}
	namespaces = graph.Resource{Version: "v1", Resource: "namespaces"}
	secrets    = graph.Resource{Version: "v1", Resource: "secrets"}
)

// fakeObject is an object as its JSON.
type fakeObject struct {
	uid    string
	json   string
	secret bool
}

func (o *fakeObject) UID() string      { return o.uid }
func (o *fakeObject) HasContent() bool { return !o.secret }

func (o *fakeObject) Size() int {
	if o.secret {
		return 0
	}
	return len(o.json)
}

func (o *fakeObject) AppendJSON(dst []byte) ([]byte, error) {
	if o.secret {
		return dst, nil
	}
	return append(dst, o.json...), nil
}

func (o *fakeObject) Tree() (map[string]any, error) { return jsontree.Whole([]byte(o.json)) }

func (o *fakeObject) ReadJSON(read func([]byte) error) error { return read([]byte(o.json)) }

// hookedObject is an object during whose reading and encoding something else happens.
type hookedObject struct {
	*fakeObject

	meanwhile func()
}

func (o *hookedObject) AppendJSON(dst []byte) ([]byte, error) {
	o.meanwhile()
	return o.fakeObject.AppendJSON(dst)
}

func (o *hookedObject) ReadJSON(read func([]byte) error) error {
	o.meanwhile()
	return o.fakeObject.ReadJSON(read)
}

// fixedRights know all: what is not among them is denied.
type fixedRights map[access.Place]bool

func (r fixedRights) Allowed(p access.Place) (allowed, known bool) {
	return r[p] || r[access.Place{Group: p.Group, Resource: p.Resource}], true
}

func (r fixedRights) Digest() string {
	text, _ := json.Marshal(len(r))
	return string(text)
}
