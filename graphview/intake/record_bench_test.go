package intake

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/patience"
)

var podResource = resources.Resource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}

// benchPod returns a pod of some 5 KB. The state is the only container's.
func benchPod(name string, version int, image, state string, ready bool) string {
	var env strings.Builder
	for i := range 40 {
		fmt.Fprintf(&env, `{"name":"VARIABLE_%d","value":"some value of it %d"},`, i, i*7919)
	}
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"shop","uid":"u-%s","resourceVersion":"%d","creationTimestamp":"2026-01-01T00:00:00Z",
"labels":{"app":"web","tier":"front","pod-template-hash":"7c9"},"annotations":{"a.dev/notes":%q},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7c9","uid":"u-rs","controller":true}]},
"spec":{"serviceAccountName":"web","nodeName":"worker-1","containers":[{"name":"web","image":%q,"env":[%s{"name":"LAST","value":"1"}],"volumeMounts":[{"name":"config","mountPath":"/etc/web"}]}],
"volumes":[{"name":"config","configMap":{"name":"web"}},{"name":"db","secret":{"secretName":"web-db"}}]},
"status":{"phase":"Running","startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Ready","status":"%s","lastTransitionTime":"2026-01-01T00:00:00Z"}],"containerStatuses":[{"name":"web","ready":%v,"restartCount":%d,"state":%s,"image":%q}]}}`,
		name, name, version, strings.Repeat("x", 500), image, env.String(), map[bool]string{true: "True", false: "False"}[ready], ready, version%7, state, image)
}

// servePods lists one pod of each name, and sends the events when begin is closed.
func servePods(b *testing.B, names int, begin <-chan struct{}, events []string) *rest.Config {
	items := make([]string, names)
	for i := range items {
		items[i] = benchPod(fmt.Sprint("web-", i), 1+i, "web:1", `{"running":{"startedAt":"2026-01-01T00:00:00Z"}}`, true)
	}
	list := fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`, names+1, strings.Join(items, ","))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "" {
			_, _ = w.Write([]byte(list))
			return
		}
		w.(http.Flusher).Flush()
		<-begin
		for _, e := range events {
			_, _ = w.Write([]byte(e))
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	b.Cleanup(server.Close)
	transport := &http.Transport{}
	b.Cleanup(transport.CloseIdleConnections)
	return &rest.Config{Host: server.URL, Transport: transport}
}

func processorTime() time.Duration {
	var use syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// BenchmarkHistory is the processor time of an event from the watch's bytes to the graph, with and without a
// history, that of the test's server included: events that change nothing of a health, a health, or an image.
func BenchmarkHistory(b *testing.B) {
	const running, waiting = `{"running":{"startedAt":"2026-01-01T00:00:00Z"}}`, `{"waiting":{"reason":"CrashLoopBackOff"}}`
	for name, event := range map[string]func(i int) string{
		"restarts": func(i int) string { return benchPod(fmt.Sprint("web-", i%500), 1000+i, "web:1", running, true) },
		"health": func(i int) string {
			if i/500%2 == 0 {
				return benchPod(fmt.Sprint("web-", i%500), 1000+i, "web:1", waiting, false)
			}
			return benchPod(fmt.Sprint("web-", i%500), 1000+i, "web:1", running, true)
		},
		"annotation": func(i int) string {
			return strings.Replace(benchPod(fmt.Sprint("web-", i%500), 1000+i, "web:1", running, true), "xxxxxxxx", fmt.Sprintf("%08d", i), 1)
		},
		"image": func(i int) string {
			return benchPod(fmt.Sprint("web-", i%500), 1000+i, fmt.Sprint("web:", i), running, true)
		},
	} {
		for _, on := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/history=%v", name, on), func(b *testing.B) {
				events := make([]string, b.N)
				for i := range events {
					events[i] = fmt.Sprintf(`{"type":"MODIFIED","object":%s}`, event(i))
				}
				begin := make(chan struct{})
				recording = on
				w := start(b, servePods(b, 500, begin, events))
				recording = true
				key := watch.Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Kind: "Pod", Namespaced: true}
				var feed *Feed
				lease, err := w.watches.Acquire(b.Context(), key, func(of *watch.Watch) watch.Handler {
					feed = w.NewFeed(w.life, of, podResource)
					return feed
				})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { lease.Release() })
				patience.Await(b, "the list", func() bool { return feed.LastState().Synced })
				sets := w.Counts.Sets.Load()
				b.ResetTimer()
				before := processorTime()
				close(begin)
				patience.Await(b, "the events", func() bool { return w.Counts.Sets.Load()-sets >= uint64(b.N) })
				b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
				if w.history != nil {
					if s := w.history.Stats(); s.Appended > 0 {
						b.ReportMetric(float64(w.history.Stats().Bytes)/float64(s.Appended), "bytes/entry")
					}
				}
			})
		}
	}
}
