package main

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/test/bench/load"
	"graphview.dev/test/must"
)

// taken notes how a child takes events after it has synced.
type taken struct {
	*child

	first     time.Time
	processor float64
}

// ready says that the events may come.
func (c *child) ready() *taken {
	t := &taken{child: c, processor: processorTime(os.Getpid())}
	c.sayReady(nil)
	return t
}

// came records a message, and reports whether it has the last event.
func (t *taken) came(text []byte) (last bool) {
	for n := range load.Numbers(text, []byte(sequenceMark)) {
		if t.first.IsZero() {
			t.first = time.Now()
		}
		last = last || n == t.LastEvent
	}
	return last
}

// ended notes what they took, since the first came or, of processor time, since
// they might have come.
func (t *taken) ended() {
	t.EventSeconds = time.Since(t.first).Seconds()
	t.EventProcessor = processorTime(os.Getpid()) - t.processor
}

// runWatch is the floor of what takes events: it reads them.
func runWatch(ctx context.Context, c *child) {
	client := must.Get(rest.HTTPClientFor(c.config))
	defer client.CloseIdleConnections()
	request := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, c.config.Host+pods.listPath()+"?watch=1&resourceVersion=1", http.NoBody))
	response := must.Get(client.Do(request))
	defer response.Body.Close()
	t := c.ready()
	lines := bufio.NewReaderSize(response.Body, 1<<20)
	for {
		text, err := lines.ReadSlice('\n')
		must.Do(err)
		if t.came(text) {
			t.ended()
			return
		}
	}
}
