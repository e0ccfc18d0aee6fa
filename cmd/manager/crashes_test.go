package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCrashes starts a process at each of some minutes. One that ends in order is closed before the next.
func TestCrashes(t *testing.T) {
	type process struct {
		minute int
		closed bool
		want   int // the minute until which it refuses expressions, 0 for never
	}
	for name, processes := range map[string][]process{
		"the first process refuses nothing": {{minute: 0}},
		"one crash is none":                 {{minute: 0}, {minute: 5}},
		"two crashes within ten minutes":    {{minute: 0}, {minute: 1}, {minute: 11, want: 21}},
		"two crashes in eleven minutes":     {{minute: 0}, {minute: 1}, {minute: 12}},
		"three crashes":                     {{minute: 0}, {minute: 1}, {minute: 12}, {minute: 14, want: 24}},
		"orderly ends do not count":         {{minute: 0, closed: true}, {minute: 1, closed: true}, {minute: 2, closed: true}, {minute: 3}},
		"an orderly end between crashes":    {{minute: 0}, {minute: 1, closed: true}, {minute: 2}, {minute: 3, want: 13}},
		"an orderly end while it refuses":   {{minute: 0}, {minute: 1}, {minute: 2, closed: true, want: 12}, {minute: 5, want: 12}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, start := t.TempDir(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			for i, p := range processes {
				c, err := openCrashes(dir, start.Add(time.Duration(p.minute)*time.Minute))
				if err != nil {
					t.Fatal(err)
				}
				want := time.Time{}
				if p.want > 0 {
					want = start.Add(time.Duration(p.want) * time.Minute)
				}
				if got := c.refuseUntil(); !got.Equal(want) {
					t.Errorf("process %d refuses until %v, want %v", i, got, want)
				}
				if p.closed {
					if err := c.close(); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

func TestDamagedCrashes(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "no JSON": "{", "other JSON": `[1]`, "half": `{"running":true,"ends":["x"]}`} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "crashes.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := openCrashes(dir, time.Now())
			if err != nil || len(c.Ends) > 0 {
				t.Errorf("%+v, error %v; want a file without crashes", c, err)
			}
		})
	}
	if _, err := openCrashes(filepath.Join(t.TempDir(), "absent"), time.Now()); err == nil {
		t.Error("no error for a directory that does not exist")
	}
}
