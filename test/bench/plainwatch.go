package main

import (
	"context"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"graphview.dev/test/must"
)

// sequenceMark is the text before a sequence in an object.
const sequenceMark = `"` + sequence + `":"`

// plainWatch records the time at which a watch of the pods' metadata receives each change.
type plainWatch struct {
	watcher *watchtools.RetryWatcher
	reading sync.WaitGroup

	mu   sync.Mutex
	seen map[int]time.Time
}

// watchPods begins a watch after a list. The watch continues when the API server ends it.
func watchPods(ctx context.Context, config *rest.Config) *plainWatch {
	client := must.Get(metadata.NewForConfig(config)).Resource(pods.GroupVersionResource)
	list := must.Get(client.List(ctx, metav1.ListOptions{Limit: 1}))
	watcher := must.Get(watchtools.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, options)
		},
	}))
	p := &plainWatch{watcher: watcher, seen: make(map[int]time.Time)}
	p.reading.Go(p.read)
	return p
}

// end ends the watch and waits for its reader.
func (p *plainWatch) end() {
	p.watcher.Stop()
	p.reading.Wait()
}

func (p *plainWatch) read() {
	for event := range p.watcher.ResultChan() {
		now := time.Now()
		pod, ok := event.Object.(metav1.Object)
		if !ok {
			continue // an error: the watch ends, and await fails
		}
		if n, err := strconv.Atoi(pod.GetAnnotations()[sequence]); err == nil {
			p.mu.Lock()
			p.seen[n] = now
			p.mu.Unlock()
		}
	}
}

// when returns the arrival of a change, or the zero time.
func (p *plainWatch) when(n int) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[n]
}

// await waits until a change has arrived.
func (p *plainWatch) await(ctx context.Context, n int) {
	ctx, cancel := context.WithTimeoutCause(ctx, lastChange, errNoLastChange)
	defer cancel()
	for p.when(n).IsZero() {
		must.Do(wait(ctx, interval))
	}
}
