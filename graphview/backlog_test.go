package graphview

import (
	"context"
	"testing"

	"graphview.dev/graphview/watch"
)

func TestBacklogHoldsEachObjectOnce(t *testing.T) {
	e := startEngine(t, Options{Config: serveConfigMaps(t, 100)})
	watched := follow(t, e, yes)
	await(t, "the list", func() bool { return watched.vertices() == 100 })
	objects := retainedBy(t, watched)
	b := newBacklog(e)
	b.put(watched, objects[0], false)
	if len(b.objects) > 0 {
		t.Error("an object was put before the view began")
	}
	b.begin(t.Context())
	b.working = true // nobody takes anything but this test
	other := &tap{}
	for range 3 {
		for i, o := range objects {
			b.put(watched, o, i%2 == 0)
		}
		b.put(other, objects[0], false)
	}
	if len(b.objects) != 101 || len(b.waiting) != 101 || watched.pending.Load() != 100 {
		t.Fatalf("%d objects, %d wait, %d pending; want 101, 101 and 100", len(b.objects), len(b.waiting), watched.pending.Load())
	}
	for _, want := range []int{backlogChunk, 100 - backlogChunk} {
		from, some, free := b.take()
		if from != watched || len(some) != want || len(free) != want/2 {
			t.Fatalf("took %d objects, %d of them free, want %d and %d", len(some), len(free), want, want/2)
		}
	}
	b.drop(other)
	b.put(other, objects[0], false) // somebody has found it before
	if from, some, _ := b.take(); from != nil || len(some) > 0 || b.working {
		t.Errorf("took %d objects of a tap that was dropped", len(some))
	}
	if b.objects != nil {
		t.Error("what had everything is kept for nothing")
	}
}

func TestBacklogOfAViewThatEnded(t *testing.T) {
	b := newBacklog(&Engine{})
	ctx, end := context.WithCancel(t.Context())
	b.begin(ctx)
	b.working = true
	end()
	b.put(&tap{}, &watch.Object{}, false)
	if from, _, _ := b.take(); from != nil || len(b.objects) > 0 {
		t.Error("there is work for a view that has ended")
	}
}
