package fleet

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
	"graphview.dev/test/subscriber"
)

// BenchmarkDeaths measures how late a change of a member reaches subscribers of a hub at most when a part
// of the fleet ends, and how often they are reset: with built operators, a hub of two replicas whose
// subscribers go to the other replica when theirs does not answer, and a load balancer for the member.
func BenchmarkDeaths(b *testing.B) {
	var line *lines
	far, hub, member := startOperators(b, func(hub *operator.Hub) string {
		balancer, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = balancer.Close() })
		line = &lines{Listener: balancer}
		go balance(line, hub.Tunnels()) // until b ends
		return balancer.Addr().String()
	})
	fixture.Kubectl(b, far, "create", "clusterrolebinding", "hub", "--clusterrole=cluster-admin", "--group="+operator.MemberGroup("system:masters"))
	b.Cleanup(func() {
		_, err := far.Kubectl(context.WithoutCancel(b.Context()), "delete", "clusterrolebinding", "hub")
		if err != nil {
			b.Error(err)
		}
	})
	replicas := []*operator.Operator{hub.Operator, hub.Other}
	both := []*pulses{readPulses(b, replicas[0], replicas[1]), readPulses(b, replicas[1], replicas[0])}
	written := writePulses(b, far)

	restart := func(o *operator.Operator) {
		if err := o.Restart(); err != nil {
			b.Fatal(err)
		}
	}
	// connected waits until each replica of the hub has a tunnel.
	connected := func() {
		for _, replica := range replicas {
			fixture.Eventually(b, 90*time.Second, 50*time.Millisecond, func() string {
				if n, err := replica.Metric(b.Context(), "graphview_tunnels"); err != nil || n < 1 {
					return fmt.Sprint(n, " tunnels, ", err)
				}
				return ""
			})
		}
	}
	suspend := func(suspended bool) {
		fixture.Kubectl(b, hubPlane, "patch", "clusterlink", "far-1", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"suspend":%t}}`, suspended))
	}
	for _, death := range []struct {
		name string
		die  func() // returns when changes may pass again, if wait
		wait bool
	}{
		{"replica-killed", func() { replicas[0].Kill() }, false},
		{"replica-back", func() { restart(replicas[0]) }, false},
		{"rolling-restart", func() {
			for _, replica := range replicas {
				replica.Stop(b.Context())
				restart(replica)
				connected()
			}
		}, false},
		{"hub-killed", func() {
			for _, replica := range replicas {
				replica.Kill()
			}
			for _, replica := range replicas {
				restart(replica)
			}
		}, false},
		{"member-stopped", func() {
			member.Stop(b.Context())
			restart(member)
		}, false},
		{"member-killed", func() {
			member.Kill()
			restart(member)
		}, false},
		{"cut", func() { line.cut() }, false},
		{"frozen", func() { line.freeze(true, true) }, false},
		{"away-for-1-min", func() {
			thaw := line.partition()
			time.Sleep(time.Minute)
			thaw()
		}, true},
		{"suspended-for-5-s", func() {
			suspend(true)
			time.Sleep(5 * time.Second)
			suspend(false)
		}, true},
	} {
		b.Run(death.name, func(b *testing.B) {
			var late time.Duration
			resets := 0
			for b.Loop() {
				for _, p := range both {
					resets -= p.Resets()
				}
				first := written.last()
				passing := time.Now()
				death.die()
				if death.wait {
					passing = time.Now()
				}
				// A change may have been sent before the death was noticed, so wait for a while.
				time.Sleep(2 * time.Second)
				last := written.last()
				for _, p := range both {
					fixture.Eventually(b, 90*time.Second, 10*time.Millisecond, func() string { return p.lacks(last) })
					late = max(late, p.late(written, first, last, passing))
					resets += p.Resets()
				}
				if death.name != "replica-killed" {
					connected()
				}
			}
			b.ReportMetric(late.Seconds(), "s-late")
			b.ReportMetric(float64(resets)/float64(len(both)), "resets")
			b.ReportMetric(0, "ns/op")
		})
	}
}

const pulse = "pulse-"

// pulseLog has the times at which changes were made.
type pulseLog struct {
	mu sync.Mutex
	at []time.Time
}

// last returns the number of the last change.
func (l *pulseLog) last() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.at) - 1
}

// writePulses creates an object of the view ten times a second, until b ends.
func writePulses(b *testing.B, plane *env.ControlPlane) *pulseLog {
	b.Helper()
	c, l := fixture.Client(b, plane.Config()), &pulseLog{}
	fixture.Start(b, func(ctx context.Context) error {
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for i := 0; ; i++ {
			l.mu.Lock()
			l.at = append(l.at, time.Now())
			l.mu.Unlock()
			if err := c.Create(context.WithoutCancel(ctx), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "far", Name: pulse + strconv.Itoa(i)}}); err != nil {
				return err
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return nil
			}
		}
	})
	return l
}

// pulses is a subscriber with the times at which changes reached it.
type pulses struct {
	*subscriber.Subscriber

	mu sync.Mutex
	at map[int]time.Time
}

var pulseName = regexp.MustCompile(`"` + pulse + `([0-9]+)"`)

// readPulses follows the graph at the first replica that answers, until b ends.
func readPulses(b *testing.B, at ...*operator.Operator) *pulses {
	b.Helper()
	p := &pulses{Subscriber: subscriber.New(), at: make(map[int]time.Time)}
	p.Heard = func(text []byte) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, found := range pulseName.FindAllSubmatch(text, -1) {
			i, err := strconv.Atoi(string(found[1]))
			if _, heard := p.at[i]; err == nil && !heard {
				p.at[i] = time.Now()
			}
		}
		return nil
	}
	client := fixture.HTTP1(b, hubPlane.Config())
	fixture.Start(b, func(ctx context.Context) error {
		p.Persist(ctx, func(ctx context.Context, since string) (next subscriber.Stream, err error) {
			for _, replica := range at {
				address := replica.URL() + watchOf(pathOf("far-1", "far")+"/view")
				if since != "" {
					address += "?since=" + since
				}
				var request *http.Request
				if request, err = http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody); err != nil {
					return nil, err
				}
				if next, err = subscriber.Response(client, request); err == nil {
					return next, nil
				}
			}
			return nil, err
		})
		return nil
	})
	fixture.Eventually(b, 30*time.Second, 50*time.Millisecond, func() string {
		if !p.Synced() {
			return fmt.Sprint("no graph: ", p.Told())
		}
		return ""
	})
	return p
}

// lacks says which change has not reached the subscriber.
func (p *pulses) lacks(i int) string {
	told := p.Told() // its lock comes before that of p
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, heard := p.at[i]; !heard {
		return fmt.Sprint("change ", i, " is missing; told ", told)
	}
	return ""
}

// late returns how late one of some changes was at most. A change from before a time could not be sent
// before it.
func (p *pulses) late(written *pulseLog, first, last int, passing time.Time) (late time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	written.mu.Lock()
	defer written.mu.Unlock()
	for i := first; i <= last; i++ {
		at, heard := p.at[i]
		if !heard {
			continue // it was part of a message before a reset
		}
		from := written.at[i]
		if from.Before(passing) {
			from = passing
		}
		late = max(late, at.Sub(from))
	}
	return late
}
