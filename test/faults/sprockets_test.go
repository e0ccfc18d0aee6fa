package faults

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// sprockets is the storage of an extension server and what it serves of it:
// discovery, list, and watches from the present on.
type sprockets struct {
	mu      sync.Mutex
	version int
	objects map[string]map[string]any // by namespace/name
	moved   chan struct{}             // closed when version or failing changes
	failing bool
}

func newSprockets() *sprockets {
	return &sprockets{version: 1, objects: map[string]map[string]any{}, moved: make(chan struct{})}
}

// change makes an object, or deletes it if it is there.
func (s *sprockets) change(namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	key := namespace + "/" + name
	if _, ok := s.objects[key]; ok {
		delete(s.objects, key)
	} else {
		s.objects[key] = map[string]any{
			"apiVersion": extensionGroup + "/v1", "kind": "Sprocket",
			"metadata": map[string]any{"namespace": namespace, "name": name, "uid": fmt.Sprint("uid-", s.version), "resourceVersion": strconv.Itoa(s.version)},
		}
	}
	s.announce()
}

// fail takes the server down, or brings it back.
func (s *sprockets) fail(failing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = failing
	s.announce()
}

func (s *sprockets) announce() {
	close(s.moved)
	s.moved = make(chan struct{})
}

func (s *sprockets) state() (version int, failing bool, moved <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version, s.failing, s.moved
}

func (s *sprockets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	rest, ours := strings.CutPrefix(r.URL.Path, "/apis/"+extensionGroup+"/v1")
	_, failing, _ := s.state()
	switch {
	case failing:
		answer(w, http.StatusInternalServerError, "sprockets")
	case !ours:
		answer(w, http.StatusNotFound, "")
	case rest == "":
		respond(w, map[string]any{
			"apiVersion": "v1", "kind": "APIResourceList", "groupVersion": extensionGroup + "/v1",
			"resources": []any{map[string]any{
				"name": "sprockets", "singularName": "sprocket", "kind": "Sprocket", "namespaced": true, "verbs": []string{"get", "list", "watch"},
			}},
		})
	default:
		namespace := ""
		if parts := strings.Split(rest, "/"); len(parts) == 4 && parts[1] == "namespaces" {
			namespace = parts[2]
		}
		if r.URL.Query().Get("watch") != "" {
			s.watch(w, r)
			return
		}
		respond(w, s.list(namespace))
	}
}

func respond(w http.ResponseWriter, value map[string]any) {
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // only a client that has gone
}

func (s *sprockets) list(namespace string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if namespace == "" || strings.HasPrefix(key, namespace+"/") {
			items = append(items, s.objects[key])
		}
	}
	return map[string]any{
		"apiVersion": extensionGroup + "/v1", "kind": "SprocketList",
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)}, "items": items,
	}
}

// watch waits for a change and then answers that the resource version is too old, so that
// the client lists again. A server without history can do no more.
func (s *sprockets) watch(w http.ResponseWriter, r *http.Request) {
	from := r.URL.Query().Get("resourceVersion")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	for {
		version, failing, moved := s.state()
		if failing {
			panic(http.ErrAbortHandler)
		}
		if strconv.Itoa(version) != from {
			_, _ = fmt.Fprintf(w, `{"type":"ERROR","object":%s}`+"\n", status(http.StatusGone, "sprockets"))
			return
		}
		select {
		case <-moved:
		case <-r.Context().Done():
			return
		}
	}
}
