package controllers

import (
	"cmp"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
)

var boundGraphViews = budget.Declare("namespace_graphviews",
	"GraphViews of one namespace; the oldest are served, so delete some, or declare the others in another namespace", 500)

// quota decides which GraphViews of a namespace are served: the oldest, up to a
// limit. That follows from the GraphViews that there are, so every replica decides
// alike, and after a restart as before.
type quota struct {
	limit int

	mu         sync.Mutex
	namespaces map[string]*contenders
}

// contenders are the GraphViews of one namespace.
type contenders struct {
	order []contender // the oldest first
	of    map[string]contender
}

type contender struct {
	created int64 // in seconds, as the API server has it
	name    string
	uid     types.UID
}

func newQuota(limit int64) *quota {
	return &quota{limit: int(limit), namespaces: make(map[string]*contenders)}
}

// enter records a GraphView and reports whether it is served. others lists the GraphViews of
// its namespace; it is called if the namespace is unknown. moved names a GraphView whose answer
// has changed, if any.
func (q *quota) enter(view *v1alpha1.GraphView, others func() ([]v1alpha1.GraphView, error)) (served bool, moved []graphview.Name, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.namespaces[view.Namespace]
	if all == nil {
		// Under the lock: a GraphView that is deleted meanwhile leaves after it.
		list, err := others()
		if err != nil {
			return false, nil, err
		}
		all = &contenders{of: make(map[string]contender, len(list))}
		for i := range list {
			all.add(contenderOf(&list[i]))
		}
		q.namespaces[view.Namespace] = all
	}
	c := contenderOf(view)
	if before, ok := all.of[c.name]; !ok || before != c {
		if ok {
			moved = q.remove(view.Namespace, all, before)
		}
		if at := all.add(c); at < q.limit && len(all.order) > q.limit {
			moved = append(moved, graphview.Name{Namespace: view.Namespace, Name: all.order[q.limit].name})
		}
	}
	at, _ := slices.BinarySearchFunc(all.order, c, contender.compare)
	return at < q.limit, moved, nil
}

// leave removes a GraphView and returns the GraphView that is served in its place, if any.
func (q *quota) leave(name graphview.Name) []graphview.Name {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.namespaces[name.Namespace]
	if all == nil {
		return nil
	}
	c, ok := all.of[name.Name]
	if !ok {
		return nil
	}
	moved := q.remove(name.Namespace, all, c)
	if len(all.order) == 0 {
		delete(q.namespaces, name.Namespace)
	}
	return moved
}

// remove returns the GraphView that moves up.
func (q *quota) remove(namespace string, all *contenders, c contender) []graphview.Name {
	at, _ := slices.BinarySearchFunc(all.order, c, contender.compare)
	all.order = slices.Delete(all.order, at, at+1)
	delete(all.of, c.name)
	if at >= q.limit || len(all.order) < q.limit {
		return nil
	}
	return []graphview.Name{{Namespace: namespace, Name: all.order[q.limit-1].name}}
}

// add returns where the contender stands.
func (all *contenders) add(c contender) int {
	at, _ := slices.BinarySearchFunc(all.order, c, contender.compare)
	all.order = slices.Insert(all.order, at, c)
	all.of[c.name] = c
	return at
}

func contenderOf(view *v1alpha1.GraphView) contender {
	return contender{view.CreationTimestamp.Unix(), view.Name, view.UID}
}

func (c contender) compare(o contender) int {
	return cmp.Or(cmp.Compare(c.created, o.created), cmp.Compare(c.name, o.name))
}
