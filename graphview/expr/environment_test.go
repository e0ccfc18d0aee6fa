package expr

import (
	"sync"
	"testing"
)

// TestEnvironmentsAtOnce: environments may be made at once. Without the race detector the test
// shows only that they are made.
func TestEnvironmentsAtOnce(t *testing.T) {
	var making sync.WaitGroup
	for range 4 {
		making.Go(func() {
			if _, err := newBase(); err != nil {
				t.Error(err)
			}
		})
	}
	making.Wait()
}
