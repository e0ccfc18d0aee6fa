package watch

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// counting is a decoder that counts the events it has read.
type counting struct{ read atomic.Int32 }

func (c *counting) Decode() (apiwatch.EventType, runtime.Object, error) {
	c.read.Add(1)
	return apiwatch.Added, &event{}, nil
}

func (c *counting) Close() {}

// TestStreamWatcherReadsOneAhead: the two events of frames are enough. A version of
// apimachinery that read further ahead would write over an event that is in use.
func TestStreamWatcherReadsOneAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		decoder := &counting{}
		w := apiwatch.NewStreamWatcher(decoder, nil)
		for used := range int32(4) {
			synctest.Wait()
			if got := decoder.read.Load(); got > used+1 {
				t.Fatalf("with %d events taken, %d were read: frames has to have more than %d", used, got, len((&frames{}).events))
			}
			<-w.ResultChan()
		}
		w.Stop()
		for range w.ResultChan() {
		}
	})
}
