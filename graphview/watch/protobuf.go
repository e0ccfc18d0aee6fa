package watch

import (
	"errors"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/protobuf"
)

// messageOf returns the table of the objects of a key, nil if they are read as JSON.
func messageOf(key Key) *protobuf.Message {
	switch {
	case key.Reduced: // Options.Reduce takes JSON
		return nil
	case key.secrets():
		return protobuf.Metadata()
	}
	return protobuf.ForKind(schema.GroupVersionKind{Group: key.Resource.Group, Version: key.Resource.Version, Kind: key.Kind})
}

// unreadable returns err if it says that something cannot be read in Protobuf, otherwise nil.
func unreadable(err error) error {
	if _, ok := errors.AsType[*protobuf.Error](err); ok {
		return err
	}
	return nil
}

// fallBack makes the Watch request JSON from now on if err says that something cannot be read in Protobuf, and
// reports whether it does. Nothing that the server sends is then left out.
func (lw *listWatcher) fallBack(err error) bool {
	if lw.message == nil || unreadable(err) == nil {
		return false
	}
	lw.message = nil
	lw.client.fellBack.Add(1)
	lw.watch.log.Info("objects are read as JSON, which costs more processor time: the API server may be newer than this version", "cause", err.Error())
	return true
}

// readProtobuf is read for an object in Protobuf. If the object cannot be read, the error is a *protobuf.Error.
func (d *document) readProtobuf(raw []byte, m *protobuf.Message, t typeMeta, secret bool) (err error) {
	defer panics.Recover(&err)
	d.reset()
	if secret {
		t = secretHeader
	}
	r := &d.reader
	out, err := r.AppendMembers(t.appendTo(d.json), m, raw)
	if err != nil {
		return err
	}
	out = append(out, '}')
	d.json = out
	d.version, d.status = span{r.VersionStart, r.VersionEnd}, span{r.StatusStart, r.StatusEnd}
	d.namespace, d.name = append(d.namespace, r.Namespace...), append(d.name, r.Name...)
	d.uid, d.resourceVersion = append(d.uid, r.UID...), append(d.resourceVersion, r.ResourceVersion...)
	return d.check(t)
}

// quoted returns a typeMeta.
func quoted(apiVersion, kind string) typeMeta {
	return typeMeta{apiVersion: strconv.AppendQuote(nil, apiVersion), kind: strconv.AppendQuote(nil, kind)}
}
