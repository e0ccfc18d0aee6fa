package watch

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/graphview/jsontree"
)

func TestFollowsListAndWatch(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.set("a", object("a", "", `,"spec":{"n":1}`))
	s.set("b", object("b", "", ""))
	w := acquire(t, start(t, s, r), podsKey).Watch()
	r.awaitLine(0, "state synced=true UpToDate 2")
	s.set("c", object("c", "", ""))
	s.set("a", object("a", "", `,"spec":{"n":2}`))
	s.delete("b")
	r.awaitLine(0, "delete b")

	want := []string{"set a", "set b", "state synced=true UpToDate 2", "set c", "set a", "delete b"}
	if diff := cmp.Diff(want, r.lines()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	wantJSON := map[string]string{
		"a": `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"shop","uid":"uid-a","resourceVersion":"5"},"spec":{"n":2}}`,
		"c": `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"c","namespace":"shop","uid":"uid-c","resourceVersion":"4"}}`,
	}
	if diff := cmp.Diff(wantJSON, r.json); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if got := w.State(); !got.Synced || got.Objects != 2 || got.Err != nil {
		t.Errorf("state = %+v", got)
	}
	if w.ID() == 0 || w.Key() != podsKey {
		t.Errorf("watch %d of %v", w.ID(), w.Key())
	}
}

func TestUnchangedIsNotSet(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	fields := func(manager string) string { return `,"managedFields":[{"manager":"` + manager + `"}]` }
	s.set("a", object("a", fields("x"), `,"spec":{}`))
	acquire(t, start(t, s, r), podsKey)
	r.awaitLine(0, "state synced=true")
	s.set("a", object("a", "", `,"spec":{}`))          // no managedFields at all
	s.set("a", object("a", fields("y"), `,"spec":{}`)) // others
	s.set("a", object("a", fields("y"), `, "spec" : { } `))
	s.set("a", object("a", `,"annotations":{"`+lastApplied+`":"{}"}`, `,"spec":{}`))
	s.set("z", object("z", "", ""))
	r.awaitLine(0, "set z")
	if got := r.count("set a"); got != 1 {
		t.Errorf("set %d times, want once", got)
	}
	if got := r.count("same a"); got != 4 {
		t.Errorf("told %d times of a version with the same content, want 4 times", got)
	}
	if got := r.json["a"]; !strings.Contains(got, `"resourceVersion":"2"`) {
		t.Errorf("resourceVersion moved on without a change: %s", got)
	}
}

func TestRecreatedIsSetWithoutDelete(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.set("a", object("a", "", ""))
	lease := acquire(t, start(t, s, r), podsKey)
	r.awaitLine(0, "state synced=true")
	s.set("a", strings.Replace(object("a", "", ""), "uid-a", "another", 1))
	r.await("second set", func() bool { return strings.Contains(r.json["a"], "another") })
	var uid string
	if err := replay(t.Context(), lease, func(d *Decoded) { uid = d.UID() }); err != nil {
		t.Fatal(err)
	}
	if uid != "another" {
		t.Errorf("uid = %q", uid)
	}
}

func TestRelistSweeps(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	for _, name := range []string{"a", "b", "c"} {
		s.set(name, object(name, "", ""))
	}
	acquire(t, start(t, s, r), podsKey)
	at := r.awaitLine(0, "state synced=true")
	s.forget("b")
	s.set("d", object("d", "", ""))
	r.awaitLine(at, "set d")
	s.send("ERROR", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
	r.awaitLine(at, "delete b")
	if got := r.count("set"); got != 4 {
		t.Errorf("%d calls of Set, want 4: a relist sets only what changed", got)
	}
	if got := r.count("state"); got != 1 {
		t.Errorf("%d calls of State, want 1: an expired watch is routine", got)
	}
}

func TestPages(t *testing.T) {
	page := func(token, items string) string {
		return fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":%q},"items":[%s]}`, token, items)
	}
	item := func(name string) string { return "{" + object(name, "", "") + "}" }
	tests := map[string]struct {
		second  func(w http.ResponseWriter)
		wantLog []string
	}{
		"two": {
			second:  func(w http.ResponseWriter) { write(w, page("", item("b"))) },
			wantLog: []string{"set a", "set b", "state synced=true UpToDate 2"},
		},
		"second expired, so the whole list is read": {
			second:  func(w http.ResponseWriter) { refuse(w, http.StatusGone, "Expired") },
			wantLog: []string{"set a", "set c", "delete a", "state synced=true UpToDate 1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, r := newServer(t), newRecorder(t)
			s.set("c", object("c", "", ""))
			s.answer(func(w http.ResponseWriter, r *http.Request, watch bool) bool {
				switch {
				case watch, r.URL.Query().Get("limit") == "":
					return false
				case r.URL.Query().Get("continue") == "":
					write(w, page("more", item("a")))
				default:
					test.second(w)
				}
				return true
			})
			acquire(t, start(t, s, r), podsKey)
			r.awaitLine(0, "state")
			if diff := cmp.Diff(test.wantLog, r.lines()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWatchResumesFromBookmark(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	acquire(t, start(t, s, r), podsKey)
	r.awaitLine(0, "state synced=true")
	for range 10 {
		s.send("BOOKMARK", `{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"VERSION"}}`)
	}
	s.set("a", object("a", "", ""))
	at := r.awaitLine(0, "set a")
	s.hangUp()
	s.set("b", object("b", "", ""))
	r.awaitLine(at, "set b")
	if got := s.requests("watch rv=12 "); got != 1 {
		t.Errorf("asked %q, want a watch from 12", s.asked)
	}
	if got := s.requests("list"); got != 1 {
		t.Errorf("%d lists, want 1", got)
	}
}

func TestHugeObject(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	huge := strings.Repeat("0123456789abcdef", 128<<10) // 2 MiB
	s.set("listed", object("listed", "", `,"data":"`+huge+`"`))
	acquire(t, start(t, s, r), podsKey)
	at := r.awaitLine(0, "state synced=true")
	s.set("watched", object("watched", "", `,"data":"`+huge+`"`))
	s.set("small", object("small", "", ""))
	r.awaitLine(at, "set small")
	for _, name := range []string{"listed", "watched"} {
		if !strings.Contains(r.json[name], huge) {
			t.Errorf("%s has %d bytes", name, len(r.json[name]))
		}
	}
}

func TestInvalidObjects(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.set("bad", `"metadata":{"name":"bad","namespace":"shop"},"spec":{"x":"`+"\xff"+`"}`)
	s.set("good", object("good", "", ""))
	s.set("number", `7`)
	acquire(t, start(t, s, r), podsKey)
	at := r.awaitLine(0, "state synced=true")
	want := []string{
		"invalid shop/bad: not UTF-8", "set good", "invalid /: not a JSON object", "state synced=true UpToDate 1",
	}
	if diff := cmp.Diff(want, r.lines()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	s.set("bad", object("bad", "", ""))
	r.awaitLine(r.awaitLine(at, "invalid shop/bad: <nil>"), "set bad")
	s.set("bad", `"metadata":{"name":"bad","namespace":"shop"},"spec":{"x":"`+"\xff"+`"}`)
	at = r.awaitLine(at, "invalid shop/bad: not UTF-8")
	s.delete("number")
	s.send("ERROR", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
	r.awaitLine(at, "invalid /: <nil>")
	if got := r.count("delete"); got != 0 {
		t.Error("an object was deleted because its last version cannot be read")
	}
}

// TestPartOrTree: the first callers get the part that they ask for, and later ones share the tree.
func TestPartOrTree(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.set("a", object("a", "", `,"spec":{"x":1,"y":2}`))
	lease := acquire(t, start(t, s, r), podsKey)
	r.awaitLine(0, "state synced=true")
	var shape jsontree.Shape
	shape.Field("spec", "x").Whole()
	if err := replay(t.Context(), lease, func(d *Decoded) {
		for range fewParts {
			part, err := d.PartOrTree(&shape)
			if diff := cmp.Diff(map[string]any{"spec": map[string]any{"x": int64(1)}}, part); diff != "" || err != nil {
				t.Errorf("part: %v (-want +got):\n%s", err, diff)
			}
		}
		last, err := d.PartOrTree(&shape)
		tree, treeErr := d.Tree()
		if diff := cmp.Diff(tree, last); diff != "" || err != nil || treeErr != nil || reflect.ValueOf(last).Pointer() != reflect.ValueOf(tree).Pointer() {
			t.Errorf("tree: %v, %v (-tree +got):\n%s", err, treeErr, diff)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

func TestSecretsAreMetadata(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	// This server ignores what was asked for and sends everything.
	s.set("a", object("a", `,"labels":{"l":"v"},"annotations":{"`+lastApplied+`":"hunter2","k":"v"}`,
		`,"data":{"p":"hunter2"},"d\u0061ta":{"p":"hunter2"},"stringData":{"p":"hunter2"},"type":"Opaque"`))
	key := Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}}
	lease := acquire(t, start(t, s, r), key)
	r.awaitLine(0, "state synced=true")
	s.set("b", object("b", "", `,"data":{"p":"hunter2"}`))
	r.awaitLine(0, "set b")

	trees := map[string]any{}
	err := replay(t.Context(), lease, func(d *Decoded) {
		tree, err := d.Tree()
		if err != nil {
			t.Error(err)
		}
		trees[d.Name()] = tree
		if json, err := d.AppendJSON(nil); len(json) > 0 || err != nil || d.Size() == 0 || d.HasContent() {
			t.Errorf("%s has content: %s, %v", d.Name(), json, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a": map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{
			"name": "a", "namespace": "shop", "uid": "uid-a", "resourceVersion": "2",
			"labels": map[string]any{"l": "v"}, "annotations": map[string]any{"k": "v"},
		}},
		"b": map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{
			"name": "b", "namespace": "shop", "uid": "uid-b", "resourceVersion": "3",
		}},
	}
	if diff := cmp.Diff(want, trees); diff != "" {
		t.Errorf("trees (-want +got):\n%s", diff)
	}
	for _, request := range s.asked {
		_, types, _ := strings.Cut(request, "accept=")
		for part := range strings.SplitSeq(types, ",") {
			if !strings.Contains(part, ";as=PartialObjectMetadata") {
				t.Errorf("asked for more than metadata: %s", request)
			}
		}
	}
}
