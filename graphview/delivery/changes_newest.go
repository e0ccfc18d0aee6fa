package delivery

import (
	"graphview.dev/graphview/history"
)

// newest is a heap of the newest entries of owners.
type newest []*newestOf

type newestOf struct {
	entry *history.Entry
	next  func() (*history.Entry, bool)
	stop  func()
}

func (n newest) Len() int           { return len(n) }
func (n newest) Less(i, j int) bool { return n[i].entry.At > n[j].entry.At }
func (n newest) Swap(i, j int)      { n[i], n[j] = n[j], n[i] }
func (n *newest) Push(x any)        { *n = append(*n, x.(*newestOf)) } //nolint:forcetypeassert // nothing else is pushed
func (n *newest) Pop() any {
	last := len(*n) - 1
	o := (*n)[last]
	*n = (*n)[:last]
	return o
}
