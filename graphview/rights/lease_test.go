package rights

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
)

// TestRetain: a lease asks no more about places that it no longer needs, and takes no answer from another lease.
func TestRetain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority("ann list pods/red", "ann watch pods/red")
		p := a.start()
		defer runLoop(t, p)()
		l, _ := take(t, p, "ann", web, Terms{})
		defer l.Release()
		other, _ := take(t, p, "ann", view{Name: "other"}, Terms{})
		defer other.Release()
		resolve(t, l, podsRed, podsBlue, secretsRed)
		resolve(t, other, podsBlue)
		before := p.o.Ledger.Total()
		l.Retain([]access.Place{podsRed, podsBlue, secretsRed})
		if held := p.o.Ledger.Total(); held != before {
			t.Errorf("%d bytes are held, %d before anything was forgotten", held, before)
		}
		l.Retain([]access.Place{podsRed})
		if held := p.o.Ledger.Total(); held >= before {
			t.Errorf("%d bytes are held, %d before places were forgotten", held, before)
		}
		a.questions()
		time.Sleep(time.Minute + time.Second)
		want := []string{"ann list */", "ann list */blue", "ann list */red", "ann list pods/", "ann list pods/blue", "ann list pods/red", "ann watch pods/red"}
		if diff := cmp.Diff(want, a.questions()); diff != "" {
			t.Errorf("one interval -want +got:\n%s", diff)
		}
		for place, wantKnown := range map[access.Place]bool{podsRed: true, podsBlue: false, secretsRed: false} {
			if _, known := l.Latest().Allowed(place); known != wantKnown {
				t.Errorf("%v: known %t", place, known)
			}
		}
		if allowed, known := other.Latest().Allowed(podsBlue); allowed || !known {
			t.Errorf("another lease: allowed %t, known %t", allowed, known)
		}
	})
}

// TestWithoutKeeping: the last lease takes the answers along.
func TestWithoutKeeping(t *testing.T) {
	o := optionsOf(newAuthority("ann list pods/", "ann watch pods/").review, nil)
	o.KeepFor = 0
	p := New(o)
	if _, known := p.Allowed(named("ann"), pods); known {
		t.Error("known before a lease")
	}
	l, _ := take(t, p, "ann", web, Terms{})
	another, _ := take(t, p, "ann", view{}, Terms{})
	resolve(t, l, pods)
	l.Release()
	if allowed, known := p.Allowed(named("ann"), podsRed); !allowed || !known {
		t.Errorf("allowed %t, known %t, while there is a lease", allowed, known)
	}
	another.Release()
	if _, known := p.Allowed(named("ann"), pods); known || len(p.identities) > 0 || p.o.Ledger.Total() != 0 {
		t.Errorf("known %t without a lease; %d identities with %d bytes", known, len(p.identities), p.o.Ledger.Total())
	}
}

// TestLatest: a view sees a changed answer before it looks at the signal, and no answer is used once too many
// re-checks have failed.
func TestLatest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority("ann list pods/red", "ann watch pods/red")
		p := a.start()
		defer runLoop(t, p)()
		l, _ := take(t, p, "ann", web, Terms{})
		defer l.Release()
		resolve(t, l, podsRed, podsBlue)
		l.Changed()
		a.set(false, "ann watch pods/red")
		time.Sleep(61 * time.Second)
		if allowed, known := l.Latest().Allowed(podsRed); allowed || !known {
			t.Errorf("after an interval without the right: allowed %t, known %t", allowed, known)
		}
		a.fail(errDown)
		changed := l.Changed()
		time.Sleep(5 * time.Minute)
		if _, known := l.Latest().Allowed(podsRed); !known || fired(changed) {
			t.Error("the last answers do not hold for five re-checks")
		}
		time.Sleep(time.Minute)
		if _, known := l.Latest().Allowed(podsRed); known || !fired(changed) {
			t.Errorf("after five failed re-checks: known %t, notified %t", known, fired(changed))
		}
		if held := p.o.Ledger.Total(); held != identityBytes {
			t.Errorf("%d bytes are held for no answer", held)
		}
		a.fail(nil)
		resolve(t, l, podsRed)
		if allowed, known := l.Latest().Allowed(podsRed); allowed || !known {
			t.Errorf("after the outage: allowed %t, known %t", allowed, known)
		}
	})
}

// TestRecheckOfManyPlaces: a lost right takes effect before a long re-check has ended.
func TestRecheckOfManyPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority()
		p := a.start()
		defer runLoop(t, p)()
		l, _ := take(t, p, "ann", web, Terms{})
		defer l.Release()
		var places []access.Place
		for n := range 5 * appliedAtOnce {
			namespace := strconv.Itoa(n)
			places = append(places, access.Place{Resource: "pods", Namespace: namespace})
			a.set(true, "ann list pods/"+namespace, "ann watch pods/"+namespace)
		}
		resolve(t, l, places...)
		for n := range places {
			a.set(false, "ann list pods/"+strconv.Itoa(n))
		}
		lost := func() (n int) {
			for _, place := range places {
				if allowed, _ := l.Latest().Allowed(place); !allowed {
					n++
				}
			}
			return n
		}
		time.Sleep(time.Minute + 5*time.Second)
		early := lost()
		if time.Sleep(time.Minute); early == 0 || early == len(places) || lost() != len(places) {
			t.Errorf("%d of %d places are lost after some seconds, %d in the end", early, len(places), lost())
		}
	})
}

// TestRecheckIsLate: answers that a re-check does not renew in time are forgotten, and leases hear of it.
func TestRecheckIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority()
		o := optionsOf(a.review, nil)
		o.Within = 5 * time.Second
		p := New(o)
		defer runLoop(t, p)()
		l, ctx := take(t, p, "ann", web, Terms{})
		defer l.Release()
		var places []access.Place
		for n := range 5 * appliedAtOnce { // two questions each, 400 a second
			places = append(places, access.Place{Resource: "pods", Namespace: strconv.Itoa(n)})
		}
		resolve(t, l, places...)
		changed := l.Changed()
		time.Sleep(2 * time.Minute)
		known := 0
		for _, place := range places {
			if _, ok := l.Latest().Allowed(place); ok {
				known++
			}
		}
		if known == 0 || known == len(places) || !fired(changed) || ctx.Err() != nil {
			t.Errorf("%d of %d places are known, notified %t, ended %v", known, len(places), fired(changed), ctx.Err())
		}
	})
}

// TestAnswersAreReserved: before it asks, an identity has room for each answer twice, in the
// identity and in the scope of the view, and for no more. The answers are about everything and about nodes.
func TestAnswersAreReserved(t *testing.T) {
	for spare, wantRefused := range map[int64]bool{4 * answerBytes: false, 4*answerBytes - 1: true} {
		a := newAuthority()
		// An owner may take half of the bytes that are free after its own.
		p := a.startWith(budget.NewLedger(2*identityBytes + 2*spare))
		l, _ := take(t, p, "ann", web, Terms{})
		err := l.Resolve(t.Context(), []access.Place{{Resource: "nodes"}})
		if refused := err != nil; refused != wantRefused {
			t.Errorf("with %d bytes to spare: %v", spare, err)
		}
		if held := p.o.Ledger.Total(); !wantRefused && held != identityBytes+4*answerBytes {
			t.Errorf("%d bytes are held for an identity and two answers", held)
		}
		l.Release()
	}
}
