package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/client"
)

func TestAbsence(t *testing.T) {
	v := viewOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/there") {
			fmt.Fprint(w, `{"apiVersion":"v1","kind":"Service","metadata":{"name":"there"}}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	})
	const outside = "outside: it exists, but the view does not select it"
	for name, test := range map[string]struct {
		object string
		kind   client.ArcType
		a      client.Attributes
		want   string
	}{
		"an owner that was replaced":         {"there", client.Owner, client.Attributes{}, "MISSING: it was replaced by another object of that name"},
		"an owner that is outside":           {"there", client.Owner, client.Attributes{Outside: client.OutsideView}, outside},
		"an owner where nobody looks":        {"there", client.Owner, client.Attributes{Outside: client.OutsideUnknown}, outside},
		"an owner that went":                 {"gone", client.Owner, client.Attributes{}, "MISSING: it does not exist"},
		"what is used and has just appeared": {"there", client.Uses, client.Attributes{}, outside},
		"what is used and went":              {"gone", client.Uses, client.Attributes{}, "MISSING: it does not exist"},
		"what is optional":                   {"gone", client.Uses, client.Attributes{Optional: true}, "absent: it does not exist, and is optional"},
	} {
		t.Run(name, func(t *testing.T) {
			test.a.Missing = true
			arc := client.Arc{To: client.Key{Version: "v1", Resource: "services", Namespace: "shop", Name: test.object}, Type: test.kind, Attributes: test.a}
			if got := (&lookup{view: v}).absence(t.Context(), arc); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestBoundReportsOmissions: bindings have a count of their own, and of more than are
// looked up it is said.
func TestBoundReportsOmissions(t *testing.T) {
	v := viewOf(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"vx":{"g":"rbac.authorization.k8s.io","v":"v1","r":"rolebindings","ns":"shop","n":"b"},"o":{"subjects":[{"kind":"User","name":"jane"}]}}`)
	})
	l := &lookup{view: v, asked: mostLookedUp}
	binding := client.Key{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings", Namespace: "shop", Name: "b"}
	got := map[string]int{}
	for range mostLookedUp + 2 {
		got[l.bound(t.Context(), binding)]++
	}
	want := map[string]int{"for User/jane": mostLookedUp, "not looked up: more than 20": 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text := l.bound(t.Context(), client.Key{Version: "v1", Resource: "pods"}); text != "" {
		t.Errorf("of a pod: %q", text)
	}
}

// TestTerminalEscapesAreRemoved: what users write into objects does not reach a terminal as
// an escape.
func TestTerminalEscapesAreRemoved(t *testing.T) {
	const escape = "a\x1b[2Jb\u009bc"
	const harmless = "a\uFFFD[2Jb\uFFFDc"
	quoted, err := json.Marshal(escape)
	if err != nil {
		t.Fatal(err)
	}
	binding := &client.Vertex{
		Key:    client.Key{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"},
		Object: fmt.Appendf(nil, `{"subjects":[{"kind":"User","name":%s}]}`, quoted),
	}
	if diff := cmp.Diff([]string{"User/" + harmless}, people(binding)); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
	object := &client.Vertex{Object: fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":"False","message":%s}],`+
		`"containerStatuses":[{"name":"web","state":{"waiting":{"reason":"Wait","message":"one\ntwo"}}}]}}`, quoted)}
	if diff := cmp.Diff([]string{"container web waits: Wait one two", "Ready is False: " + harmless}, troubles(object)); diff != "" {
		t.Errorf("troubles (-want +got):\n%s", diff)
	}
	if got := shortened(escape, 80); got != harmless {
		t.Errorf("shortened: %q", got)
	}
	if diff := cmp.Diff([]string{"x " + harmless}, wrap("x "+escape, 80, 1)); diff != "" {
		t.Errorf("wrap (-want +got):\n%s", diff)
	}
}

// TestOutside: the objects of kinds that the view does not watch are named.
func TestOutside(t *testing.T) {
	claim := &client.Vertex{
		Key:    client.Key{Version: "v1", Resource: "persistentvolumeclaims", Namespace: "data", Name: "redis"},
		Object: json.RawMessage(`{"kind":"PersistentVolumeClaim","metadata":{"name":"redis","namespace":"data"},"spec":{"storageClassName":"fast","volumeName":"pv-1"}}`),
	}
	g := &client.Graph{}
	wants := func(when string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, outside(g, claim)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	wants("a server that does not say what it watches")
	g.Apply(&client.Message{Kinds: []client.ResourceKind{{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim"}}})
	wants("a view of claims", "PersistentVolume/pv-1", "StorageClass/fast")
	g.Apply(&client.Message{Kinds: []client.ResourceKind{{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim"}, {Version: "v1", Resource: "persistentvolumes", Kind: "PersistentVolume"}}})
	wants("a view of claims and volumes", "StorageClass/fast")
}
