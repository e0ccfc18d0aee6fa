package watch

import (
	"encoding/hex"
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

// purse is the memory that namespace shop may hold.
type purse struct{ held, most atomic.Int64 }

func (p *purse) pay(_ string, more int) bool {
	if p.held.Add(int64(more)) > p.most.Load() && more > 0 {
		p.held.Add(int64(-more))
		return false
	}
	return true
}

func (p *purse) room(string) int { return int(p.most.Load() - p.held.Load()) }

// noise returns a text that does not compress, another one each time.
func noise(length int) string {
	b := make([]byte, length/2)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return hex.EncodeToString(b)
}

// content returns the content of an object, "" for none.
func content(t *testing.T, o *Object) string {
	t.Helper()
	json, err := o.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(json)
}

// TestObjectsBeyondTheirShare: an object that its namespace cannot pay for is retained without its
// content, with the same identity. It has its content again after a change that fits, and after the watch
// has begun again once there is room.
func TestObjectsBeyondTheirShare(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	var shop purse
	shop.most.Store(4 * objectBytes)
	s.set("small", object("small", "", `,"data":"x"`))
	s.set("large", object("large", `,"labels":{"a":"b"}`, `,"data":"`+noise(4000)+`"`))
	lease := acquire(t, start(t, s, r, func(o *Options) { o.Pay, o.Room = shop.pay, shop.room }), podsKey)
	at := r.awaitLine(0, "state synced=true")
	check := func(when string, wantContent bool) {
		t.Helper()
		all := retained(t, lease)
		o := all["large"]
		if o.LacksContent() == wantContent || (content(t, o) != "") != wantContent || o.UID() != "uid-large" {
			t.Errorf("%s: the large object lacks its content: %t; it has %d bytes", when, o.LacksContent(), len(content(t, o)))
		}
		if content(t, all["small"]) == "" {
			t.Errorf("%s: the small object lost its content", when)
		}
		sum := int64(0)
		for _, o := range all {
			sum += int64(o.cost())
		}
		if held := shop.held.Load(); held != sum || held > shop.most.Load() {
			t.Errorf("%s: %d bytes are charged, %d held, %d allowed", when, held, sum, shop.most.Load())
		}
	}
	check("at first", false)
	s.set("large", object("large", `,"labels":{"a":"b"}`, `,"data":"`+noise(4000)+`"`))
	at = r.awaitLine(at, "set large")
	check("changed", false)
	s.set("large", object("large", "", `,"data":"y"`))
	at = r.awaitLine(at, "set large")
	check("smaller", true)
	s.set("large", object("large", "", `,"data":"`+noise(4000)+`"`))
	at = r.awaitLine(at, "set large")
	check("large again", false)
	shop.most.Store(1 << 20)
	s.hangUp()
	r.awaitLine(at, "set large")
	check("with room, after the watch has begun again", true)
	lease.Release()
	if held := shop.held.Load(); held != 0 {
		t.Errorf("%d bytes are charged after the watch has ended", held)
	}
}

// TestOthersWatchesArePaidByTheirViews: objects of a watch of one namespace or with a selector are not
// charged to the namespace.
func TestOthersWatchesArePaidByTheirViews(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	s.set("a", object("a", "", ""))
	key := podsKey
	key.LabelSelector = "app=web"
	acquire(t, start(t, s, r, func(o *Options) {
		o.Pay = func(string, int) bool { t.Error("the namespace is asked to pay"); return true }
		o.Room = func(string) int { return 0 }
	}), key)
	r.awaitLine(0, "state synced=true")
}
