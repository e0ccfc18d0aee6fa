package watch_test //nolint:testableexamples // it needs an API server

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/watch"
)

// printer prints the names of the objects of a watch.
type printer struct{ synced chan struct{} }

func (*printer) Set(o *watch.Decoded)                      { fmt.Println("set", o.Namespace(), o.Name()) }
func (*printer) VersionOnly(*watch.Object)                 {}
func (*printer) Delete(o *watch.Object)                    { fmt.Println("deleted", o.Namespace(), o.Name()) }
func (*printer) Invalid(namespace, name string, err error) { fmt.Println(namespace, name, err) }
func (p *printer) State(s watch.State) {
	if s.Synced {
		close(p.synced)
	}
}

// All callers that need the Pods of a cluster lease one watch. It ends with the last lease.
func ExampleManager_Acquire() {
	manager, err := watch.NewManager(watch.Options{Config: &rest.Config{Host: "https://kubernetes.example.com"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = manager.Run(ctx) })
	defer running.Wait()
	defer cancel()

	p := &printer{make(chan struct{})}
	pods := watch.Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Kind: "Pod", Namespaced: true}
	lease, err := manager.Acquire(ctx, pods, func(*watch.Watch) watch.Handler { return p })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Release()
	<-p.synced
	fmt.Println(lease.Watch().State().Objects, "Pods")
}
