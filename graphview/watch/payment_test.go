package watch

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"graphview.dev/graphview/budget"
)

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
	const limit, most = 2 << 20, 4 * objectBytes
	ledger := budget.NewLedger(limit)
	namespaces := budget.NewNamespaces(ledger)
	var others []*budget.Account // they leave most bytes to a namespace
	for i := 0; ledger.Total() < limit-2*most; i++ {
		a := ledger.Account(budget.NamespaceOwner(fmt.Sprint("other-", i)))
		if err := a.Set(budget.Contents, min(a.Most(budget.Contents), limit-2*most-ledger.Total())); err != nil {
			t.Fatal(err)
		}
		others = append(others, a)
	}
	total := ledger.Total()
	s.set("small", object("small", "", `,"data":"x"`))
	s.set("large", object("large", `,"labels":{"a":"b"}`, `,"data":"`+noise(4000)+`"`))
	lease := acquire(t, start(t, s, r, func(o *Options) { o.Namespaces = namespaces }), podsKey)
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
		if held := ledger.Total() - total; held != sum {
			t.Errorf("%s: %d bytes are charged, %d held", when, held, sum)
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
	for _, a := range others {
		a.Close()
	}
	total = 0
	s.hangUp()
	r.awaitLine(at, "set large")
	check("with room, after the watch has begun again", true)
	lease.Release()
	if held := ledger.Total(); held != 0 {
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
	ledger := budget.NewLedger(1 << 20)
	acquire(t, start(t, s, r, func(o *Options) { o.Namespaces = budget.NewNamespaces(ledger) }), key)
	r.awaitLine(0, "state synced=true")
	if n := ledger.Total(); n != 0 {
		t.Errorf("the namespace pays for %d bytes", n)
	}
}
