package rights

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
)

// TestPermit: every place has an answer, and only unknown places are asked about.
func TestPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority("ann list pods/red", "ann watch pods/red", "ann list pods/blue")
		p := a.start()
		l, _ := take(t, p, "ann", web, Terms{})
		defer l.Release()
		places := []access.Place{podsRed, secretsRed, podsBlue}
		resolve(t, l, secretsRed)
		a.questions()
		want := map[access.Place]bool{podsRed: true, secretsRed: false, podsBlue: false}
		for _, asked := range [][]string{{"ann list */blue", "ann list pods/", "ann list pods/blue", "ann list pods/red", "ann watch pods/blue", "ann watch pods/red"}, nil} {
			got, err := l.Permit(t.Context(), places)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(asked, a.questions()); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		}

		// One place that is not known, beside one that is.
		a.fail(errDown)
		got, err := l.Permit(t.Context(), []access.Place{podsRed, {Resource: "nodes"}})
		if !errors.Is(err, errDown) {
			t.Errorf("error %v", err)
		}
		if diff := cmp.Diff(map[access.Place]bool{podsRed: true}, got); diff != "" {
			t.Errorf("answers without an API server (-want +got):\n%s", diff)
		}
	})
}

// TestAnswersAreReserved: before it asks, an identity has room for each answer twice, in the
// identity and in the scope of the view, and for no more. The answers are about everything and about nodes.
func TestAnswersAreReserved(t *testing.T) {
	for spare, wantRefused := range map[int64]bool{4 * answerBytes: false, 4*answerBytes - 1: true} {
		a := newAuthority()
		// An owner may take half of what is free after what it holds.
		p := a.startWith(budget.NewLedger(2*identityBytes + 2*spare))
		l, _ := take(t, p, "ann", web, Terms{})
		err := l.Resolve(t.Context(), []access.Place{{Resource: "nodes"}})
		if refused := err != nil; refused != wantRefused {
			t.Errorf("with %d bytes to spare: %v", spare, err)
		}
		if held := p.ledger.Total(); !wantRefused && held != identityBytes+4*answerBytes {
			t.Errorf("%d bytes are held for an identity and two answers", held)
		}
		l.Release()
	}
}
