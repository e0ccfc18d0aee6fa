package patience

import (
	"testing"
	"time"
)

// Await asks until a condition holds. It ends the test if that takes longer than a minute.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(For(time.Minute)); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not seen", what)
		}
	}
}
