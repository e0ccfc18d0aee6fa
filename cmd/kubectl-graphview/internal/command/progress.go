package command

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/dynamic"
)

const (
	// quietFor is the time before progress is printed.
	quietFor = time.Second
	// tellEvery is the time between two messages.
	tellEvery = 2 * time.Second
)

// progress prints the reason of a wait on standard error.
type progress struct {
	view     *view
	vertices atomic.Int64

	mu       sync.Mutex
	out      io.Writer
	terminal bool
	shown    bool   // the line must be overwritten
	last     string // last message
}

func newProgress(v *view) *progress {
	if v.quiet {
		return &progress{view: v, out: io.Discard}
	}
	return &progress{view: v, out: v.ErrOut, terminal: isTerminal(v.ErrOut)}
}

// sayf writes a line that stays.
func (p *progress) sayf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	fmt.Fprintf(p.out, format+"\n", args...)
}

// erase removes a passing line.
func (p *progress) erase() {
	if p.shown {
		fmt.Fprint(p.out, eraseLine)
		p.shown = false
	}
}

// pass shows a line until the next output: on a terminal that
// overwrites it, elsewhere each line is written once.
func (p *progress) pass(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text == p.last {
		return
	}
	p.last = text
	p.erase()
	if p.terminal {
		fmt.Fprint(p.out, text)
		p.shown = true
		return
	}
	fmt.Fprintln(p.out, text)
}

// start prints the progress from time to time, until stop is called.
func (p *progress) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		timer := time.NewTimer(quietFor)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			if text := p.reason(ctx); ctx.Err() == nil {
				p.pass(fmt.Sprintf("waiting for %s: %d objects so far%s", p.view, p.vertices.Load(), text))
			}
			timer.Reset(tellEvery)
		}
	}()
	return func() {
		cancel()
		<-done
		p.mu.Lock()
		defer p.mu.Unlock()
		p.erase()
	}
}

// reason returns why the GraphView is not ready, from its status, if the user may read it.
func (p *progress) reason(ctx context.Context) string {
	if p.view.name == "" || p.view.local.serves() {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, tellEvery)
	defer cancel()
	declared, err := p.view.declaration(ctx)
	if err != nil {
		return ""
	}
	for _, c := range declared.Status.Conditions {
		if c.Type == "Ready" && c.Status != "True" {
			return "; " + oneLine(c.Message)
		}
	}
	return ""
}

// dynamic returns a client of the same server for other objects.
func (v *view) dynamic() (*dynamic.DynamicClient, error) { return dynamic.NewForConfig(v.config) }
