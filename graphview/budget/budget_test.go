package budget

import (
	"errors"
	"strings"
	"testing"
)

// A name is declared once in a process, in which a test may run many times.
var (
	meterBound   = Declare("test_meter", "bytes of a test", 10)
	sharesBound  = Declare("test_shares", "things of a user", 2)
	dividedBound = Declare("test_divided_shares", "things", 20)
)

func TestMeter(t *testing.T) {
	bound, before := meterBound, meterBound.Exceedings()
	m := bound.Meter()
	for _, n := range []int{0, 4, 6} {
		if err := m.Take(n); err != nil {
			t.Fatalf("take %d: %v", n, err)
		}
	}
	var exceeded *Exceeded
	if err := m.Take(1); !errors.As(err, &exceeded) || exceeded.Bound != bound {
		t.Fatalf("one too many: %v", err)
	}
	if err := m.Take(0); err == nil {
		t.Error("a meter that was exceeded gave more")
	}
	if m.Err() == nil || !strings.Contains(m.Err().Error(), "more than 10 bytes of a test") {
		t.Errorf("error: %v", m.Err())
	}
	if got := bound.Exceedings() - before; got != 1 {
		t.Errorf("counted %d exceedings, want 1: one piece of work is one", got)
	}
	if err := bound.Meter().Take(11); err == nil {
		t.Error("more than the limit at once was given")
	}
	if err := bound.Meter().Take(-1); err == nil {
		t.Error("a negative number, which an overflow makes, was given")
	}
	if err := bound.Meter().Err(); err != nil {
		t.Errorf("a new meter has an error: %v", err)
	}
}

func TestShares(t *testing.T) {
	s := NewShares[string](sharesBound)
	for range 2 {
		if err := s.Take("ann"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Take("ann"); err == nil {
		t.Error("a third was given")
	}
	if err := s.Take("ben"); err != nil {
		t.Errorf("one owner's share is another's: %v", err)
	}
	s.Give("ann")
	if err := s.Take("ann"); err != nil {
		t.Errorf("what was given back is not there: %v", err)
	}
	s.Give("ann")
	s.Give("ann")
	s.Give("ben")
	if s.Owners() != 0 || s.Held("ann") != 0 {
		t.Error("an owner that holds nothing is remembered")
	}
}

func TestDeclareTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a name was declared twice")
		}
	}()
	Declare(meterBound.Name(), "things", 1)
}
