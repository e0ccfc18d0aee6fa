package history

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
)

func aState(i int) State {
	return State{
		Object: graph.Key{Resource: pods, Namespace: "shop", Name: fmt.Sprint("pod-", i)}, UID: fmt.Sprintf("0a1b2c3d-0000-4000-8000-%012d", i),
		Fields: uint64(i) << 40, Watch: uint32(i),
		Health: HealthOf(health.Health{State: health.Degraded, Reason: "CrashLoopBackOff", Since: 1_700_000_000, Ready: 1, Wanted: 2, Counted: true}),
	}
}

// TestStateCodec: an encoded state decodes to an equal one, also with a UID of another form, and damage is an
// error.
func TestStateCodec(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		want := aState(i)
		switch i % 4 {
		case 0:
			want.UID = []string{"", "uid", "ABCDEF", want.UID + "0"}[random.IntN(4)]
		case 1:
			want.Health = Health{}
		}
		text := want.encode()
		got, err := decodeState(text)
		resource, name := stateKey(&want.Object)
		got.Object = keyOf(want.Object.Resource, name)
		if err != nil || got != want {
			t.Fatalf("%v: %+v, want %+v", err, got, want)
		}
		if first, second, ok := splitKey([]byte(resource + name)); !ok || first != resource || second != name {
			t.Errorf("%q, %q", first, second)
		}
		text[random.IntN(len(text))] ^= byte(1 + random.IntN(255))
		if _, err := decodeState(text[:random.IntN(len(text)+1)]); err == nil {
			t.Error("damage is not noticed")
		}
	}
}

// TestStatesAreBounded: states take at most half of the bytes. A known state is written again in its place, and a dropped
// one makes room.
func TestStatesAreBounded(t *testing.T) {
	dir, at := t.TempDir(), newClock()
	store, l := open(t, dir, at)
	l.o.Bytes = 100 << 10
	put := func(from, to int, gone bool) {
		for i := from; i < to; i++ {
			s := aState(i)
			s.Gone, s.Fields = gone, uint64(at.now.UnixNano())
			l.Append(nil, s)
		}
		at.now = at.now.Add(time.Second)
		l.KeepUp()
	}
	put(0, 2000, false)
	if b := l.states.bytes; b > 50<<10 || b < 40<<10 {
		t.Fatalf("%d bytes", b)
	}
	full := l.states.bytes
	put(0, 2000, false)
	if l.states.bytes != full {
		t.Errorf("%d bytes of the same states, then %d", full, l.states.bytes)
	}
	put(0, 2000, true)
	if l.states.bytes != 0 {
		t.Errorf("%d bytes of no states", l.states.bytes)
	}
	put(2000, 2100, false)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	at.now = at.now.Add(time.Minute)
	_, l = open(t, dir, at)
	got := l.Unseen(pods, func(*State) bool { return true })
	if len(got) != 100 || l.states.bytes == 0 {
		t.Errorf("%d states in %d bytes, want 100", len(got), l.states.bytes)
	}
}

// TestStatesWhileTheStoreFails: states that were not written are written once that works, the newest of each object.
func TestStatesWhileTheStoreFails(t *testing.T) {
	dir, at := t.TempDir(), newClock()
	store, l := open(t, dir, at)
	old, listed := aState(1), aState(2)
	l.Append(nil, old, listed)
	if err := store.db.Close(); err != nil {
		t.Fatal(err)
	}
	l.KeepUp()
	renewed := old
	renewed.Fields++
	gone := aState(3)
	gone.Gone = true
	l.Append([]*Entry{{Object: old.Object}}, renewed, gone)
	l.KeepUp()
	reopened, err := openFile(filepath.Join(dir, storeFile))
	if err != nil {
		t.Fatal(err)
	}
	store.db = reopened.db
	l.KeepUp()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	at.now = at.now.Add(time.Minute)
	_, l = open(t, dir, at)
	got := l.Unseen(pods, func(*State) bool { return true })
	if d := cmp.Diff([]State{renewed, listed}, got, cmp.Comparer(func(a, b State) bool { return a == b })); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestStatesOfInterruptedWatches: while a watch may lack changes, the states are certain as of before, also for the next
// process but one if the next had no objects.
func TestStatesOfInterruptedWatches(t *testing.T) {
	dir, at := t.TempDir(), newClock()
	store, l := open(t, dir, at)
	l.Append(nil, aState(1))
	l.KeepUp()
	want := at.now.Add(-slack).UnixMicro()
	l.Interrupt(1)
	var gaps []Gap
	for range 3 {
		at.now = at.now.Add(time.Minute)
		l.KeepUp()
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		gaps = append(gaps, Gap{From: at.now.UnixMicro(), Until: at.now.Add(time.Minute).UnixMicro(), Why: "the operator did not run"})
		at.now = at.now.Add(time.Minute)
		store, l = open(t, dir, at)
		if l.RanUntil() != want {
			t.Errorf("certain as of %d, want %d", l.RanUntil(), want)
		}
	}
	if d := cmp.Diff(gaps, l.Gaps(0)); d != "" {
		t.Errorf("gaps -want +got:\n%s", d)
	}
	key := aState(1).Object
	if s, known := l.Resume(&key); !known || s != aState(1) {
		t.Errorf("%+v", s)
	}
}

// TestFingerprintEqualsCompare: two versions of an object have the same fingerprint if and only if Compare finds no
// field that differs.
func TestFingerprintEqualsCompare(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	object := func(kind string) []byte {
		pick := func(choices ...any) any { return choices[random.IntN(len(choices))] }
		text, err := json.Marshal(map[string]any{
			"apiVersion": pick("v1", "v1", "v2"), "kind": kind, "count": pick(1, 1, 1, 2), "status": pick("a", "b"),
			"metadata": map[string]any{
				"name": "web", "generation": pick(1, 2), "resourceVersion": pick("1", "2"), "labels": pick(map[string]any{"a": "b"}, map[string]any{"a": "b"}, map[string]any{"a": "c"}),
				"annotations": map[string]any{"control-plane.alpha.kubernetes.io/leader": pick("a", "b"), "note": pick("x", "x", "x", "y")},
			},
			"spec": map[string]any{"renewTime": pick("1", "2"), "replicas": pick(1, 1, 1, 2), "list": pick([]any{1, 2}, []any{1, 2}, []any{2, 1})},
		})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	same, different := 0, 0
	for range 5000 {
		kind := []string{"Deployment", "Lease", "Event"}[random.IntN(3)]
		a, b := object(kind), object(kind)
		paths, _ := Compare(kind, a, b)
		if equal := Fingerprint(kind, a) == Fingerprint(kind, b); equal != (len(paths) == 0) {
			t.Fatalf("%s: equal %v, paths %v\n%s\n%s", kind, equal, paths, a, b)
		}
		if len(paths) == 0 {
			same++
		} else {
			different++
		}
	}
	if same < 100 || different < 100 {
		t.Errorf("%d same, %d different", same, different)
	}
}
