package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/test/env"
)

// taken notes how a child takes events after it has synced.
type taken struct {
	*child

	first     time.Time
	processor float64
}

// ready says that the events may come.
func (c *child) ready() (*taken, error) {
	used, err := processorTime("self")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.out+".ready", nil, 0o600); err != nil {
		return nil, fmt.Errorf("say that it is ready: %w", err)
	}
	return &taken{child: c, processor: used}, nil
}

// came records a message, and reports whether it has the last event.
func (t *taken) came(text []byte) (last bool) {
	for n := range sequencesOf(text, []byte(sequenceMark)) {
		if t.first.IsZero() {
			t.first = time.Now()
		}
		last = last || n == t.events
	}
	return last
}

// ended notes what they took, since the first came or, of processor time, since
// they might have come.
func (t *taken) ended() error {
	t.EventSeconds = time.Since(t.first).Seconds()
	used, err := processorTime("self")
	t.EventProcessor = used - t.processor
	return err
}

// runWatch is the floor of what takes events: it reads them.
func runWatch(ctx context.Context, c *child) error {
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.config.Host+pods.listPath()+"?watch=1&resourceVersion=1", http.NoBody)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer response.Body.Close()
	t, err := c.ready()
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(response.Body, 1<<20)
	for {
		text, err := lines.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("watch: %w", errors.Join(err, io.ErrUnexpectedEOF))
		}
		if t.came(text) {
			return t.ended()
		}
	}
}

// until waits for something to become true while a process runs.
func until(ctx context.Context, process *env.Process, done func() (bool, error)) error {
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if err := process.Exited(); err != nil {
			return err
		}
		if err := wait(ctx, patience); err != nil {
			return err
		}
	}
}
