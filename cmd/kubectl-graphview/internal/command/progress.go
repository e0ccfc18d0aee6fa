package command

import (
	"context"
	"fmt"
	"io"
	"strconv"
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

// progress prints on standard error the reason of a wait, and how far it is.
type progress struct {
	text func(context.Context) string
	// view is the view that the command waits for, nil if it waits for something else.
	view     *view
	vertices atomic.Int64 // of the view

	mu       sync.Mutex
	out      io.Writer
	terminal bool
	shown    bool   // the line must be overwritten
	last     string // last message
}

func newProgress(v *view) *progress {
	p := v.cli.newProgress(nil)
	p.view, p.text = v, p.waitingText
	return p
}

func (c *cli) newProgress(text func(context.Context) string) *progress {
	if c.quiet {
		return &progress{text: text, out: io.Discard}
	}
	return &progress{text: text, out: c.ErrOut, terminal: isTerminal(c.ErrOut)}
}

// during writes the present step of a command, if it takes long, until stop is called.
func (c *cli) during(ctx context.Context, format string, args ...any) (stop func()) {
	text := fmt.Sprintf(format, args...)
	return c.newProgress(func(context.Context) string { return text }).start(ctx)
}

// waitingText says how much of the view has come.
func (p *progress) waitingText(ctx context.Context) string {
	if !p.view.local.serves() {
		return fmt.Sprintf("waiting for %s: %s so far%s", p.view, objects(int(p.vertices.Load())), p.reason(ctx))
	}
	status := p.view.local.cluster.Status()
	listed, complete := 0, 0
	for i := range status.Resources {
		listed += int(status.Resources[i].Objects)
		if status.Resources[i].Synced {
			complete++
		}
	}
	return fmt.Sprintf("listing: %s of %s, %d of them complete", objects(listed), count(len(status.Resources), "resource"), complete)
}

// objects counts objects, with commas as in 12,400.
func objects(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if n == 1 {
		return text + " object"
	}
	return text + " objects"
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
			if text := p.text(ctx); ctx.Err() == nil {
				p.pass(text)
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
