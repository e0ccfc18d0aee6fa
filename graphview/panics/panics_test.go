package panics

import (
	"errors"
	"strings"
	"testing"
)

func TestRecover(t *testing.T) {
	secret := "hunter2"
	number := 4711
	var none map[string]int
	for name, c := range map[string]struct {
		do        func()
		wantCause string
	}{
		"Nothing":  {do: func() {}},
		"Index":    {do: func() { _ = []int{}[number] }, wantCause: "runtime error: index out of range [####] with length #"},
		"NilMap":   {do: func() { none[secret] = 1 }, wantCause: "assignment to entry in nil map"},
		"Type":     {do: func() { var v any = secret; _ = v.(int) }, wantCause: "interface conversion: interface {} is string, not int"},
		"Unhashed": {do: func() { _ = map[any]int{}[[]string{secret}] }, wantCause: "hash of unhashable type: []string"},
		"Value":    {do: func() { panic(secret) }, wantCause: "panic with a string"},
		"Error":    {do: func() { panic(errors.New(secret)) }, wantCause: "panic with a *errors.errorString"},
		"Deep":     {do: func() { deep(100) }, wantCause: "panic with a string"},
	} {
		t.Run(name, func(t *testing.T) {
			err := func() (err error) {
				defer Recover(&err)
				c.do()
				return nil
			}()
			if c.wantCause == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var p *Error
			if !errors.As(err, &p) {
				t.Fatalf("got %v", err)
			}
			if p.Cause != c.wantCause {
				t.Errorf("cause %q, want %q", p.Cause, c.wantCause)
			}
			if !strings.HasPrefix(p.At, "graphview/panics/panics_test.go:") || !strings.Contains(p.Error(), p.At) {
				t.Errorf("at %q in %q", p.At, p.Error())
			}
			if len(p.Stack) == 0 || len(p.Stack) > depth || !strings.Contains(p.Stack[0], "panics_test.go:") {
				t.Errorf("stack: %q", p.Stack)
			}
			if all := p.Error() + p.Cause + strings.Join(p.Stack, ""); strings.Contains(all, secret) {
				t.Errorf("holds the value: %s", all)
			}
		})
	}
}

func TestRecoverKeepsErrors(t *testing.T) {
	want := errors.New("of its own")
	if err := func() (err error) {
		defer Recover(&err)
		return want
	}(); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

func deep(n int) {
	if n == 0 {
		panic("hunter2")
	}
	deep(n - 1)
}
