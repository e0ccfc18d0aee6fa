package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/test/bench/load"
	"graphview.dev/test/must"
)

// sequenceMark stands before a sequence in an object.
const sequenceMark = `"` + sequence + `":"`

// plainWatch is a watch of pods that only notes when changes come.
type plainWatch struct {
	host    string
	client  *http.Client
	stop    context.CancelFunc
	reading sync.WaitGroup

	mu   sync.Mutex
	seen map[int]time.Time
	err  error
}

// watchPods begins a watch at what there is now.
func watchPods(ctx context.Context, config *rest.Config) *plainWatch {
	client := must.Get(rest.HTTPClientFor(config))
	p := &plainWatch{host: config.Host, client: client, seen: make(map[int]time.Time)}
	version := p.latest(ctx)
	ctx, p.stop = context.WithCancel(ctx)
	p.reading.Go(func() {
		err := p.run(ctx, version)
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
	})
	return p
}

// end ends the watch and joins it.
func (p *plainWatch) end() {
	p.stop()
	p.reading.Wait()
	p.client.CloseIdleConnections()
}

// latest is the version of a list of pods, now.
func (p *plainWatch) latest(ctx context.Context) string {
	var text bytes.Buffer
	must.Get(copyList(ctx, p.client, p.host+pods.listPath()+"?limit=1", &text))
	var list struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	must.Do(json.Unmarshal(text.Bytes(), &list))
	return list.Metadata.ResourceVersion
}

// run watches until ctx ends or there is an error. The API server ends watches
// now and then, those of slow readers too; then the next one goes on.
func (p *plainWatch) run(ctx context.Context, version string) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.host+pods.listPath()+"?watch=1&pretty=false&resourceVersion="+version, http.NoBody)
		if err != nil {
			return fmt.Errorf("plain watch: %w", err)
		}
		response, err := p.client.Do(request)
		if err != nil {
			return fmt.Errorf("plain watch: %w", err)
		}
		if response.StatusCode != http.StatusOK {
			_ = response.Body.Close() // of no interest any more
			return fmt.Errorf("plain watch: %s", response.Status)
		}
		version = p.read(bufio.NewReaderSize(response.Body, 1<<20), version)
		_ = response.Body.Close() // it has ended
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// read notes what comes until the watch ends, and returns the last version.
func (p *plainWatch) read(lines *bufio.Reader, version string) string {
	for {
		text, err := lines.ReadSlice('\n')
		now := time.Now()
		if err != nil {
			return version
		}
		for n := range load.Numbers(text, []byte(sequenceMark)) {
			p.mu.Lock()
			p.seen[n] = now
			p.mu.Unlock()
		}
		const mark = `"resourceVersion":"`
		if _, after, ok := bytes.Cut(text, []byte(mark)); ok {
			found, _, _ := bytes.Cut(after, []byte(`"`))
			version = string(found)
		}
	}
}

// when the watch told of a change.
func (p *plainWatch) when(n int) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[n]
}

// reached waits until the watch has told of a change.
func (p *plainWatch) reached(ctx context.Context, n int) {
	ctx, cancel := context.WithTimeoutCause(ctx, drained, errNotTold)
	defer cancel()
	for {
		p.mu.Lock()
		err := p.err
		p.mu.Unlock()
		must.Do(err)
		if !p.when(n).IsZero() {
			return
		}
		must.Do(wait(ctx, patience))
	}
}

// late is how long after they began the watch told of changes.
func (p *plainWatch) late(began map[int]time.Time) []time.Duration {
	var late []time.Duration
	for n, at := range began {
		if seen := p.when(n); !seen.IsZero() {
			late = append(late, seen.Sub(at))
		}
	}
	return late
}
