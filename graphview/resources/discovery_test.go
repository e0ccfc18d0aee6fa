package resources

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/test/patience"
)

// within bounds what a test waits for; no test is faster or slower for it.
const within = 30 * time.Second

// run follows c until the test ends.
func run(t *testing.T, c *cluster, poll time.Duration) *Discovery {
	t.Helper()
	d, err := New(Options{Config: c.config(), PollInterval: poll})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return d
}

// await waits until the catalog contains what describe would call line, or does
// not.
func await(t *testing.T, d *Discovery, line string, want bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
	defer cancel()
	for {
		c, replaced := d.Current()
		if c != nil && slices.Contains(describe(c), line) == want {
			return
		}
		select {
		case <-replaced:
		case <-ctx.Done():
			t.Fatalf("catalog %q: contains %q: want %t", describe(c), line, want)
		}
	}
}

func TestDiscoveryFollowsWatches(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	d := run(t, c, time.Hour)
	await(t, d, "v1/pods", true)
	for range 2 {
		<-c.watched
	}

	c.set("example.com", "v1", document{resources: served("widgets")})
	c.touch()
	await(t, d, "example.com/v1/widgets", true)

	c.change(func(c *cluster) { delete(c.versions, schema.GroupVersion{Group: "example.com", Version: "v1"}) })
	c.touch()
	await(t, d, "example.com/v1/widgets", false)
}

func TestDiscoveryKeepsStale(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.set("example.com", "v1", document{resources: served("widgets")})
	d := run(t, c, 10*time.Millisecond)
	await(t, d, "example.com/v1/widgets", true)

	c.set("example.com", "v1", document{failing: true})
	await(t, d, "failed example.com/v1: stale GroupVersion discovery: example.com/v1", true)
	await(t, d, "example.com/v1/widgets", true)

	c.set("example.com", "v1", document{resources: served("gadgets")})
	await(t, d, "example.com/v1/gadgets", true)
	now, _ := d.Current()
	if got, want := fmt.Sprint(describe(now)), "[v1/pods example.com/v1/gadgets]"; got != want {
		t.Errorf("catalog after recovery = %s, want %s", got, want)
	}
}

func TestDiscoveryWithoutWatches(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.forbidden = true
	d := run(t, c, 10*time.Millisecond)
	await(t, d, "v1/pods", true)
	c.set("example.com", "v1", document{resources: served("widgets")})
	await(t, d, "example.com/v1/widgets", true)
}

func TestDiscoveryWaitsForReadiness(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.set("example.com", "v1", document{resources: served("widgets")})
	d := run(t, c, 10*time.Millisecond)
	await(t, d, "example.com/v1/widgets", true)
	before, replaced := d.Current()

	// The server loses a group while it is not ready, and has something new
	// when it is: the first replacement must hold both.
	c.change(func(c *cluster) {
		c.unready = true
		delete(c.versions, schema.GroupVersion{Group: "example.com", Version: "v1"})
	})
	awaitFailure(t, d)
	if now, _ := d.Current(); now != before {
		t.Fatalf("catalog %q of a server that is not ready was believed", describe(now))
	}
	c.change(func(c *cluster) {
		c.unready = false
		c.versions[schema.GroupVersion{Group: "example.com", Version: "v1"}] = document{resources: served("gadgets", "widgets")}
	})
	select {
	case <-replaced:
	case <-time.After(patience.For(within)):
		t.Fatal("the catalog of a server that is ready again was not believed")
	}
	now, _ := d.Current()
	if got, want := fmt.Sprint(describe(now)), "[v1/pods example.com/v1/gadgets example.com/v1/widgets]"; got != want {
		t.Errorf("catalog = %s, want %s", got, want)
	}
}

// awaitFailure waits until a discovery did not work.
func awaitFailure(t *testing.T, d *Discovery) {
	t.Helper()
	deadline := time.Now().Add(patience.For(within))
	for time.Now().Before(deadline) {
		d.mu.Lock()
		failure := d.failure
		d.mu.Unlock()
		if failure != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("no discovery failed")
}
