package offline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// mostEvents bounds the changes that watches can begin before.
const mostEvents = 10_000

// stored is a version of an object.
type stored struct {
	key     Key
	labels  labels.Set
	fields  fields.Set
	version int64
	body    []byte // in JSON, without the version, to compare
	whole   []byte // in JSON
	partial []byte // its metadata, as PartialObjectMetadata
}

// event is a change of an object.
type event struct {
	version int64
	kind    string
	object  *stored
}

func versionText(version int64) string { return strconv.FormatInt(version, 10) }

// Replace serves other manifests, and sends the differences to watches. It reports whether there are any.
func (s *Server) Replace(m *Manifests) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.kinds = m, m.Kinds()
	s.version++
	before := len(s.events)
	now := make(map[Key]*stored, len(m.Objects))
	for key, o := range m.Objects {
		body, err := json.Marshal(o.Content)
		before := s.objects[key]
		switch {
		case err != nil: // of JSON it was made
		case before != nil && bytes.Equal(before.body, body):
			now[key] = before
		default:
			now[key] = s.store(o, body)
			s.events = append(s.events, event{s.version, map[bool]string{true: "MODIFIED", false: "ADDED"}[before != nil], now[key]})
		}
	}
	for key, before := range s.objects {
		if now[key] == nil {
			gone := *before
			gone.setVersion(s.version)
			s.events = append(s.events, event{s.version, "DELETED", &gone})
		}
	}
	s.objects = now
	if len(s.events) == before {
		return false
	}
	if n := len(s.events) - mostEvents; n > 0 {
		s.forgotten = s.events[n-1].version
		s.events = slices.Clone(s.events[n:])
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return true
}

func (s *Server) store(o *Object, body []byte) *stored {
	at := newStored(o)
	at.body = body
	at.setVersion(s.version)
	return at
}

// newStored returns an object that selectors can match.
func newStored(o *Object) *stored {
	at := &stored{key: o.Key, labels: labels.Set{}, fields: fields.Set{"metadata.name": o.Name, "metadata.namespace": o.Namespace, "type": text(o.Content, "type")}}
	of, _ := o.metadata()["labels"].(map[string]any)
	for key := range of {
		at.labels[key] = text(of, key)
	}
	return at
}

// setVersion encodes the object with a version.
func (o *stored) setVersion(version int64) {
	var content map[string]any
	_ = json.Unmarshal(o.body, &content) // it was marshalled before
	o.version = version
	o.encode(content, versionText(version))
}

// encode encodes content, which is of JSON, with a resource version.
func (o *stored) encode(content map[string]any, version string) {
	content = copied(content)
	metadata, _ := content["metadata"].(map[string]any)
	metadata = copied(metadata)
	metadata["resourceVersion"] = version
	content["metadata"] = metadata
	o.whole, _ = json.Marshal(content)
	o.partial, _ = json.Marshal(map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metadata})
}

// request is a read of a resource.
type request struct {
	kind            Kind
	version         string
	namespace, name string
	labels          labels.Selector
	fields          fields.Selector
	partial         bool
}

func (q *request) matches(o *stored) bool {
	return o.key.GroupKind == q.kind.GroupKind() && (q.namespace == "" || q.namespace == o.key.Namespace) && q.labels.Matches(o.labels) && q.fields.Matches(o.fields)
}

func (q *request) body(o *stored) []byte {
	if q.partial {
		return o.partial
	}
	return o.whole
}

// resource answers a get, list or watch.
func (s *Server) resource(w http.ResponseWriter, r *http.Request, path string) {
	s.mu.Lock()
	kinds := s.kinds
	s.mu.Unlock()
	q, err := parseRequest(kinds, r, path)
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
	case q.kind.Kind == "":
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, path+" is not served")
	case q.name != "":
		s.get(w, q)
	case r.URL.Query().Get("watch") != "" && r.URL.Query().Get("watch") != "false":
		s.watch(w, r, q)
	default:
		s.list(w, q)
	}
}

// parseRequest reads /api/VERSION or /apis/GROUP/VERSION, any namespaces/NAMESPACE, RESOURCE and any NAME. The
// kind is empty if it is none of kinds.
func parseRequest(kinds []Kind, r *http.Request, path string) (q request, err error) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	group := ""
	if parts[0] == "apis" && len(parts) > 1 {
		group, parts = parts[1], parts[1:]
	}
	if len(parts) > 2 {
		q.version, parts = parts[1], parts[2:]
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		q.namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 1 {
		q.name = parts[1]
	}
	at := slices.IndexFunc(kinds, func(k Kind) bool { return k.Group == group && k.Resource == parts[0] })
	if at >= 0 && len(parts) < 3 {
		q.kind = kinds[at]
	}
	// The content of Secrets is not served.
	q.partial = strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") || q.kind.GroupKind() == secretKind
	if q.labels, err = labels.Parse(r.URL.Query().Get("labelSelector")); err != nil {
		return q, err
	}
	q.fields, err = fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	return q, err
}

func (s *Server) get(w http.ResponseWriter, q request) {
	s.mu.Lock()
	o := s.objects[Key{q.kind.GroupKind(), q.namespace, q.name}]
	s.mu.Unlock()
	if o == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", q.kind.Resource, q.name))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(q.body(o)) //nolint:gosec // JSON, for a client that may be gone
}

func (s *Server) list(w http.ResponseWriter, q request) {
	s.mu.Lock()
	var found []*stored
	for _, o := range s.objects {
		if q.matches(o) {
			found = append(found, o)
		}
	}
	version := versionText(s.version)
	s.mu.Unlock()
	slices.SortFunc(found, func(a, b *stored) int { return strings.Compare(a.key.String(), b.key.String()) })
	of := schema.GroupVersionKind{Group: q.kind.Group, Version: q.kind.Version, Kind: q.kind.Kind + "List"}
	if q.partial {
		of = schema.GroupVersionKind{Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadataList"}
	}
	items := make([]json.RawMessage, 0, len(found))
	for _, o := range found {
		items = append(items, q.body(o))
	}
	answer(w, map[string]any{"apiVersion": of.GroupVersion().String(), "kind": of.Kind, "metadata": map[string]any{"resourceVersion": version}, "items": items})
}

// watch sends the changes after a version, until the client or its time-out ends it.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, q request) {
	after, _ := strconv.ParseInt(r.URL.Query().Get("resourceVersion"), 10, 64)
	timeout := time.Hour
	if seconds, err := strconv.Atoi(r.URL.Query().Get("timeoutSeconds")); err == nil {
		timeout = time.Duration(seconds) * time.Second
	}
	end := time.NewTimer(timeout)
	defer end.Stop()
	w.Header().Set("Content-Type", "application/json")
	for flush := http.NewResponseController(w); ; {
		s.mu.Lock()
		at, _ := slices.BinarySearchFunc(s.events, after+1, func(e event, version int64) int { return int(e.version - version) })
		events, changed, forgotten := s.events[at:], s.changed, after < s.forgotten
		s.mu.Unlock()
		if forgotten {
			_, _ = fmt.Fprintln(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}}`)
			return
		}
		for _, e := range events {
			if after = e.version; q.matches(e.object) {
				if _, err := fmt.Fprintf(w, "{\"type\":%q,\"object\":%s}\n", e.kind, q.body(e.object)); err != nil { //nolint:gosec // JSON
					return
				}
			}
		}
		if flush.Flush() != nil {
			return
		}
		select {
		case <-changed:
		case <-end.C:
			return
		case <-r.Context().Done():
			return
		}
	}
}
