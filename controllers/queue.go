package controllers

import (
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
)

// newQueue returns a workqueue in which namespaces take turns. In the order of arrival,
// a tenant who edits a thousand GraphViews would delay the GraphView of another tenant by all of them.
func newQueue(name string, limiter workqueue.TypedRateLimiter[ctrl.Request]) workqueue.TypedRateLimitingInterface[ctrl.Request] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[ctrl.Request]{
		Name: name,
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[ctrl.Request]{
			Name: name,
			Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[ctrl.Request]{
				Name: name, Queue: &namespaceTurns{waiting: make(map[string][]ctrl.Request)},
			}),
		}),
	})
}

// namespaceTurns is the storage of a workqueue, which calls it under a lock.
type namespaceTurns struct {
	// waiting are the requests of each namespace, in the order of arrival.
	waiting map[string][]ctrl.Request
	// next are the namespaces with requests. The first one has the next turn.
	next []string
	size int
}

var _ workqueue.Queue[ctrl.Request] = (*namespaceTurns)(nil)

// Touch implements workqueue.Queue: a request that is added again keeps its place.
func (*namespaceTurns) Touch(ctrl.Request) {}

// Push implements workqueue.Queue.
func (q *namespaceTurns) Push(request ctrl.Request) {
	namespace := request.Namespace
	if len(q.waiting[namespace]) == 0 {
		q.next = append(q.next, namespace)
	}
	q.waiting[namespace] = append(q.waiting[namespace], request)
	q.size++
}

// Len implements workqueue.Queue.
func (q *namespaceTurns) Len() int { return q.size }

// Pop implements workqueue.Queue.
func (q *namespaceTurns) Pop() ctrl.Request {
	namespace := q.next[0]
	q.next = q.next[1:]
	request, others := q.waiting[namespace][0], q.waiting[namespace][1:]
	if len(others) > 0 {
		q.waiting[namespace] = others
		q.next = append(q.next, namespace)
	} else {
		delete(q.waiting, namespace)
	}
	q.size--
	return request
}
