package offline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Overlay lays manifests over the lists and watches of an API server: the client reads the objects as
// they are once the manifests are applied. The API server still refuses a list that the client may not read, and
// changes nothing.
//
// A live object takes the fields of its manifest, see applied. Manifests of objects that the API server
// does not have are added. No object goes: deletion by a tool that prunes is not seen.
type Overlay struct {
	base string // path of the API server
	// kinds are the kinds of the manifests.
	kinds     []Kind
	manifests *Manifests

	mu sync.Mutex
	// live are the objects of the manifests that the API server has, by the URL of the list without its page.
	live map[string]map[Key]bool
}

// NewOverlay returns the Overlay of manifests that were loaded for the cluster of config.
func NewOverlay(config *rest.Config, m *Manifests) *Overlay {
	o := &Overlay{manifests: m, live: map[string]map[Key]bool{}}
	if at, err := url.Parse(config.Host); err == nil && strings.Contains(config.Host, "://") {
		o.base = strings.TrimSuffix(at.Path, "/")
	}
	has := map[schema.GroupKind]bool{}
	for key, of := range m.Objects {
		if !has[key.GroupKind] {
			has[key.GroupKind] = true
			o.kinds = append(o.kinds, of.Kind)
		}
	}
	return o
}

// Config returns the configuration of a client that reads through the overlay.
func (o *Overlay) Config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &overlaid{o, next} })
	return config
}

// overlaid is the http.RoundTripper of an Overlay.
type overlaid struct {
	*Overlay

	next http.RoundTripper
}

// WrappedRoundTripper returns the next RoundTripper.
func (o *overlaid) WrappedRoundTripper() http.RoundTripper { return o.next }

// RoundTrip changes the answers to lists and watches of the kinds of the manifests.
func (o *overlaid) RoundTrip(r *http.Request) (*http.Response, error) {
	q, err := parseRequest(o.kinds, r, strings.TrimPrefix(r.URL.Path, o.base))
	if r.Method != http.MethodGet || err != nil || q.kind.Kind == "" || q.name != "" {
		return o.next.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	r.Header.Del("Accept-Encoding") // of a client that decompresses by itself
	r.Header.Set("Accept", asJSON(r.Header.Get("Accept")))
	response, err := o.next.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	response.ContentLength = -1
	response.Header.Del("Content-Length")
	read := r.URL.Query()
	first := read.Get("continue") == ""
	for _, name := range []string{"continue", "limit", "watch", "resourceVersion", "allowWatchBookmarks", "timeoutSeconds"} {
		read.Del(name)
	}
	lens := &lens{Overlay: o.Overlay, request: q, scope: r.URL.Path + "?" + read.Encode()}
	if r.URL.Query().Get("watch") != "" {
		response.Body = &overlaidWatch{lens: lens, body: response.Body, events: json.NewDecoder(response.Body)}
		return response, nil
	}
	defer func() { _ = response.Body.Close() }() // it was read
	content, err := lens.list(response.Body, first)
	if err != nil {
		return nil, fmt.Errorf("lay the manifests over %s: %w", q.kind.Resource, err)
	}
	response.Body = io.NopCloser(bytes.NewReader(content))
	return response, nil
}

// asJSON returns the media types that a client accepts and the overlay can read.
func asJSON(accept string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(accept, ","), func(media string) bool {
		return !strings.HasPrefix(strings.TrimSpace(media), "application/json")
	}), ",")
}

// lens lays the manifests over the answers to one list and the watches after it.
type lens struct {
	*Overlay
	request

	scope string
}

// list returns a page of a list with the objects of the manifests: a live object in its place, the other ones
// after the last page.
func (l *lens) list(body io.Reader, first bool) ([]byte, error) {
	page := map[string]json.RawMessage{}
	if err := json.NewDecoder(body).Decode(&page); err != nil {
		return nil, err
	}
	var items []json.RawMessage
	var metadata struct {
		Continue        string `json:"continue"`
		ResourceVersion string `json:"resourceVersion"`
	}
	if err := json.Unmarshal(page["items"], &items); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(page["metadata"], &metadata); err != nil {
		return nil, err
	}
	l.mu.Lock()
	if first || l.live[l.scope] == nil {
		l.live[l.scope] = map[Key]bool{}
	}
	l.mu.Unlock()
	kept := items[:0]
	for _, item := range items {
		if laid, _, ok := l.lay(item, false); ok {
			kept = append(kept, laid)
		}
	}
	if metadata.Continue == "" {
		for _, o := range l.manifests.sorted() {
			if added, ok := l.added(o, metadata.ResourceVersion); ok {
				kept = append(kept, added)
			}
		}
	}
	var err error
	if page["items"], err = json.Marshal(kept); err != nil {
		return nil, err
	}
	return json.Marshal(page)
}

// lay returns a live object as it is once the manifests are applied. ok is false if it is not one of the
// list then. gone says that it is being deleted.
func (l *lens) lay(live json.RawMessage, gone bool) (laid json.RawMessage, key Key, ok bool) {
	var name struct {
		Metadata struct{ Name, Namespace string } `json:"metadata"`
	}
	if json.Unmarshal(live, &name) != nil {
		return live, key, true
	}
	key = Key{l.kind.GroupKind(), name.Metadata.Namespace, name.Metadata.Name}
	mine := l.manifests.Objects[key]
	if mine == nil {
		return live, key, true
	}
	l.mu.Lock()
	if l.live[l.scope] == nil {
		l.live[l.scope] = map[Key]bool{}
	}
	l.live[l.scope][key] = !gone
	l.mu.Unlock()
	var content map[string]any
	if mine.Made() || json.Unmarshal(live, &content) != nil {
		return live, key, true
	}
	if text(content, "kind") == "" { // an item of a typed list has none
		content["kind"], content["apiVersion"] = l.kind.Kind, schema.GroupVersion{Group: l.kind.Group, Version: l.version}.String()
	}
	content = applied(content, mine.Content, l.partial)
	laid, err := json.Marshal(content)
	return laid, key, err == nil && l.matches(newStored(&Object{Key: key, Content: content}))
}

// added returns an object of the manifests that the API server does not have, as one of the list, with a
// resource version.
func (l *lens) added(o *Object, version string) (json.RawMessage, bool) {
	l.mu.Lock()
	live := l.live[l.scope][o.Key]
	l.mu.Unlock()
	if live || o.GroupKind != l.kind.GroupKind() {
		return nil, false
	}
	at := newStored(o)
	at.encode(o.Content, version)
	return l.body(at), l.matches(at)
}

// overlaidWatch is the body of a watch.
type overlaidWatch struct {
	lens    *lens
	body    io.Closer
	events  *json.Decoder
	pending []byte
}

func (w *overlaidWatch) Read(p []byte) (int, error) {
	for len(w.pending) == 0 {
		var event struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := w.events.Decode(&event); err != nil {
			return 0, err
		}
		switch event.Type {
		case "ADDED", "MODIFIED":
			var ok bool
			if event.Object, _, ok = w.lens.lay(event.Object, false); !ok {
				event.Type = "DELETED"
			}
		case "DELETED":
			// Its manifest makes it again.
			_, key, _ := w.lens.lay(event.Object, true)
			if mine := w.lens.manifests.Objects[key]; mine != nil {
				if again, ok := w.lens.added(mine, versionOf(event.Object)); ok {
					event.Type, event.Object = "MODIFIED", again
				}
			}
		}
		line, err := json.Marshal(event)
		if err != nil {
			return 0, err
		}
		line = append(line, '\n')
		w.pending = line
	}
	n := copy(p, w.pending)
	w.pending = w.pending[n:]
	return n, nil
}

// Close closes the body of the API server's answer.
func (w *overlaidWatch) Close() error { return w.body.Close() }

// versionOf returns the resource version of an object, or "".
func versionOf(object json.RawMessage) string {
	var of struct {
		Metadata struct{ ResourceVersion string } `json:"metadata"`
	}
	_ = json.Unmarshal(object, &of) // without a version, the API server's next event counts
	return of.Metadata.ResourceVersion
}
