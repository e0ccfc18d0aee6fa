package must

import (
	"errors"
	"strings"
	"testing"
)

func TestTry(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	steps := 0
	err := Try(func() {
		defer End(func() error { steps++; return second })
		Get(0, error(nil))
		Do(first)
		steps += 10 // not reached
	})
	if !errors.Is(err, first) || !errors.Is(err, second) || !strings.Contains(err.Error(), "must_test.go:") {
		t.Errorf("%v, want both errors and the line of the first", err)
	}
	if steps != 1 {
		t.Errorf("%d, want only the deferred step", steps)
	}
	if err := Try(func() {}); err != nil {
		t.Error(err)
	}
}

func TestTryPassesPanicsOn(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the panic was lost")
		}
	}()
	_ = Try(func() {
		defer End(func() error { return nil })
		panic("a fault of the program")
	})
}
