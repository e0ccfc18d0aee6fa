package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// every is the pace of the changes that the bystander should see.
const every = 100 * time.Millisecond

// bystander watches a ConfigMap that is changed all the time, in a view and a
// namespace of its own.
type bystander struct {
	namespace string
	done      chan struct{} // closed when it reads no more
	rest      func()        // ends the changes

	*subscriber.Subscriber

	mu      sync.Mutex
	written map[int]time.Time
	last    int // the last change that was made
	seen    int // the last change that has come
	took    []time.Duration
	plain   int // the last change that a plain watch of the ConfigMap had
	behind  int // the most changes that the plain watch had, and the stream had not
}

// meanwhile lets an attack go on beside a bystander, and says how both fared. It returns the largest number of
// changes that a plain watch of the bystander's object had before the stream.
func meanwhile(t *testing.T, attack func(tries *tally)) (behind int) {
	t.Helper()
	b := newBystander(t)
	b.quiet(t)
	calm := b.latencies()
	before := measure(t)
	tries := &tally{}
	resetPeak(t)
	began := processor(t)
	b.mu.Lock()
	b.behind = 0
	b.mu.Unlock()
	attack(tries)
	most, took := peak(t), processor(t)-began
	b.quiet(t)
	b.mu.Lock()
	behind = b.behind
	b.mu.Unlock()
	stressed := b.latencies()
	b.wantRight(t)
	// The resources that attackers held are released.
	eventually(t, func() string {
		// Attackers come by the hundred; a watch or two of the operator's own come and go
		// meanwhile, with some ten goroutines each.
		if now := measure(t); now.goroutines > before.goroutines+50 {
			return fmt.Sprintf("%d goroutines, %d before", now.goroutines, before.goroutines)
		}
		return ""
	})
	after := measure(t)
	if most > limits.memory {
		t.Errorf("the operator had %d MiB, and its limit is %d MiB: it would have been killed", most>>20, limits.memory>>20)
	}
	t.Logf("%s", tries)
	t.Logf("| %s | %d MiB | %.1f s | %s | %s |", t.Name(), most>>20, took.Seconds(), calm, stressed)
	t.Logf("operator: %s before, %s at worst, %s after", before, tries.during, after)
	t.Logf("bystander: %s before, %s meanwhile, at most %d changes behind a plain watch", calm, stressed, behind)
	return behind
}

func newBystander(t *testing.T) *bystander {
	t.Helper()
	b := &bystander{namespace: newNamespace(t, "quiet"), done: make(chan struct{}), Subscriber: subscriber.New(), written: map[int]time.Time{}}
	b.Heard = b.take
	makeConfigMap(t, b.namespace, "clock", nil, nil)
	apply(t, b.view())
	wantReady(t, b.namespace, "calm")
	conn, code, err := dial(t.Context(), client(t, "bystander"), watchPath(b.namespace, "calm"), "graphview.v1", nil)
	if err != nil {
		t.Fatalf("%d: %v", code, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	writing, rest := context.WithCancel(ctx)
	var running, changes sync.WaitGroup
	running.Go(func() { b.read(ctx, conn) })
	changes.Go(func() { b.write(writing) })
	running.Go(func() { b.watch(ctx) })
	b.rest = func() {
		rest()
		changes.Wait()
	}
	t.Cleanup(func() {
		b.rest()
		stop()
		running.Wait()
		_ = conn.CloseNow()
	})
	return b
}

func (b *bystander) view() string {
	return fmt.Sprintf(`
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: calm, namespace: %[1]s}
spec:
  queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'"}}]
  namespaces: {names: [%[1]s]}
`, b.namespace)
}

// configMaps returns a client of the bystander's own.
func (b *bystander) configMaps() dynamic.ResourceInterface {
	clients, err := dynamic.NewForConfig(adminConfig())
	if err != nil {
		b.Fail(err)
		return nil
	}
	return clients.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(b.namespace)
}

// watch watches the ConfigMap as any client does until ctx is done.
func (b *bystander) watch(ctx context.Context) {
	maps := b.configMaps()
	for maps != nil && ctx.Err() == nil {
		w, err := maps.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			if ctx.Err() == nil {
				b.Fail(err)
			}
			return
		}
		for event := range w.ResultChan() {
			if o, ok := event.Object.(*unstructured.Unstructured); ok {
				b.compare(o)
			}
		}
		w.Stop()
	}
}

// compare notes how far the stream is behind the plain watch.
func (b *bystander) compare(o *unstructured.Unstructured) {
	text, _, _ := unstructured.NestedString(o.Object, "data", "n")
	n, err := strconv.Atoi(text)
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.plain = max(b.plain, n)
	b.behind = max(b.behind, b.plain-b.seen)
}

// write changes the ConfigMap until ctx is done.
func (b *bystander) write(ctx context.Context) {
	maps := b.configMaps()
	if maps == nil {
		return
	}
	pace := time.NewTicker(every)
	defer pace.Stop()
	for n := 1; ; n++ {
		b.mu.Lock()
		b.written[n] = time.Now()
		b.mu.Unlock()
		patch := fmt.Appendf(nil, `{"data":{"n":"%d"}}`, n)
		if _, err := maps.Patch(ctx, "clock", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			if ctx.Err() == nil {
				b.Fail(err)
			}
			return
		}
		b.mu.Lock()
		b.last = n
		b.mu.Unlock()
		select {
		case <-pace.C:
		case <-ctx.Done():
			return
		}
	}
}

// read follows the stream until ctx is done.
func (b *bystander) read(ctx context.Context, conn *websocket.Conn) {
	defer close(b.done)
	if err := b.Follow(subscriber.Socket(ctx, conn)); ctx.Err() == nil {
		b.Fail(fmt.Errorf("the bystander's stream: %w", err))
	}
}

// take notes how long a change took.
func (b *bystander) take(text []byte) error {
	var message struct {
		Actions []struct {
			SVX *struct {
				VX struct {
					N string `json:"n"`
				} `json:"vx"`
				O struct {
					Data map[string]string `json:"data"`
				} `json:"o"`
			} `json:"svx"`
		} `json:"actions"`
	}
	if err := json.Unmarshal(text, &message); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range message.Actions {
		if a.SVX == nil || a.SVX.VX.N != "clock" {
			continue
		}
		if n, err := strconv.Atoi(a.SVX.O.Data["n"]); err == nil {
			b.seen = n
			b.took = append(b.took, time.Since(b.written[n]))
		}
	}
	return nil
}

// quiet waits until five more changes were made and one of those has come.
func (b *bystander) quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	want := b.last + 5
	b.mu.Unlock()
	eventually(t, func() string {
		if err := b.Err(); err != nil {
			t.Fatal(err)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.seen < want {
			return fmt.Sprintf("change %d was made, %d has come", b.last, b.seen)
		}
		return ""
	})
}

// latencies says how long changes took since the last call.
func (b *bystander) latencies() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	took := slices.Sorted(slices.Values(b.took))
	b.took = nil
	if len(took) == 0 {
		return "nothing came"
	}
	at := func(share float64) time.Duration {
		return took[int(share*float64(len(took)-1))].Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("%d changes came, p50 %s, p99 %s, slowest %s", len(took), at(0.5), at(0.99), at(1))
}

// wantRight ends the changes, and wants the stream to be open still and the
// graph to be what the cluster has.
func (b *bystander) wantRight(t *testing.T) {
	t.Helper()
	b.rest()
	view, err := oracle.ParseView([]byte(b.view()))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		want, err := oracle.Build(t.Context(), cluster.Config(), view)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Err(); err != nil {
			t.Fatal(err)
		}
		return b.Differs(want)
	})
	select {
	case <-b.done:
		t.Error("the bystander's stream has ended")
	default:
	}
}

// usage is what the operators have of the machine.
type usage struct{ resident, heap, goroutines int }

func (u usage) String() string {
	return fmt.Sprintf("%d MiB resident, %d MiB of heap, %d goroutines", u.resident>>20, u.heap>>20, u.goroutines)
}

func measure(t *testing.T) usage {
	t.Helper()
	defer http.DefaultClient.CloseIdleConnections()
	_, text := get(t, http.DefaultClient, manager.MetricsURL())
	value := func(name string) int {
		for line := range strings.Lines(text) {
			if number, ok := strings.CutPrefix(line, name+" "); ok {
				n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
				if err != nil {
					t.Fatal(err)
				}
				return int(n)
			}
		}
		t.Fatalf("no metric %s", name)
		return 0
	}
	return usage{resident: value("process_resident_memory_bytes"), heap: value("go_gc_heap_live_bytes"), goroutines: value("go_goroutines")}
}

// collect makes the operator's garbage collector come round: what it has then, it holds.
func collect(t *testing.T) {
	t.Helper()
	defer http.DefaultClient.CloseIdleConnections()
	for range 2 { // the second frees what finalizers let go in the first
		if code, text := get(t, http.DefaultClient, fmt.Sprintf("http://127.0.0.1:%d/debug/pprof/heap?gc=1", profile)); code != http.StatusOK {
			t.Fatalf("%d %.200s", code, text)
		}
	}
}
