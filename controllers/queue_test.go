package controllers

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestQueue: namespaces take turns, and the requests of one keep their order.
func TestQueue(t *testing.T) {
	q := newQueue("", workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](time.Millisecond, time.Second))
	defer q.ShutDown()
	request := func(namespace string, i int) ctrl.Request {
		return ctrl.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: fmt.Sprint("view-", i)}}
	}
	const many = 1000
	for i := range many {
		q.Add(request("greedy", i))
	}
	q.Add(request("modest", 0))
	q.Add(request("greedy", many-1)) // it waits already
	q.Add(request("modest", 1))
	var got []ctrl.Request
	for q.Len() > 0 {
		next, _ := q.Get()
		got = append(got, next)
		q.Done(next)
	}
	want := []ctrl.Request{request("greedy", 0), request("modest", 0), request("greedy", 1), request("modest", 1)}
	for i := 2; i < many; i++ {
		want = append(want, request("greedy", i))
	}
	if len(got) != len(want) {
		t.Fatalf("%d requests, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("request %d is %s, want %s", i, got[i], want[i])
		}
	}
}
