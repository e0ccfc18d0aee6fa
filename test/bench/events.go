package main

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/test/must"
	"graphview.dev/test/subscriber"
)

// events measures how fast a child takes events after it has synced.
type events struct {
	*child

	first     time.Time
	processor float64
}

// ready asks for the events.
func (c *child) ready() *events {
	e := &events{child: c, processor: processorTime(os.Getpid())}
	c.sayReady()
	return e
}

// came records the arrival of a message, and reports whether it has the last event.
func (e *events) came(text []byte) (last bool) {
	for n := range subscriber.Numbers(text, []byte(sequenceMark)) {
		if e.first.IsZero() {
			e.first = time.Now()
		}
		last = last || n == e.LastEvent
	}
	return last
}

// ended records the time since the first event, and the processor time since the child was ready.
func (e *events) ended() {
	e.EventSeconds = time.Since(e.first).Seconds()
	e.EventProcessor = processorTime(os.Getpid()) - e.processor
}

// runWatch is the floor of row 5: it only reads the events.
func runWatch(ctx context.Context, c *child) {
	client := must.Get(rest.HTTPClientFor(c.config))
	defer client.CloseIdleConnections()
	request := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, c.config.Host+pods.listPath()+"?watch=1&resourceVersion=1", http.NoBody))
	response := must.Get(client.Do(request))
	defer response.Body.Close()
	e := c.ready()
	lines := bufio.NewReaderSize(response.Body, 1<<20)
	for {
		text, err := lines.ReadSlice('\n')
		must.Do(err)
		if e.came(text) {
			e.ended()
			return
		}
	}
}
