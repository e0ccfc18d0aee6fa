package outline

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"graphview.dev/client"
)

// Folded counts the parts that an outline leaves out because another line stands for them.
type Folded struct {
	// References counts arcs that an owner of the object also has, and arcs to its own owner.
	References int
	// Objects counts the objects that one drawn object stands for.
	Objects int
}

// folding removes repeated branches from an outline in the direction of use: each pod of a Deployment
// mounts the same objects as the Deployment.
type folding struct {
	graph    *client.Graph
	branches map[client.Key][]branch
	owners   map[client.Key][]client.Key
	used     map[client.Key]int // how many branches lead to a vertex
	state    func(client.Key) (string, bool)
	remote   func(client.Key) []string
	roots    []client.Key // no other object stands for them
	folded   Folded
}

func fold(g *client.Graph, all map[client.Key][]branch, o *Options) (Folded, map[client.Key]bool) {
	f := newFolding(g, all)
	f.state, f.remote, f.roots = o.State, o.Remote, o.Roots
	f.inherited()
	return f.folded, f.equal()
}

func newFolding(g *client.Graph, all map[client.Key][]branch) *folding {
	f := &folding{graph: g, branches: all, owners: map[client.Key][]client.Key{}, used: map[client.Key]int{}}
	for key, a := range g.Arcs {
		if key.Type == client.Owner && !a.Missing && key.From != key.To {
			f.owners[key.From] = append(f.owners[key.From], key.To)
		}
	}
	return f
}

// inherited removes the references that an owner also has. It returns how many owners it looked at.
func (f *folding) inherited() (looks int) {
	said := map[client.Key]map[client.Key]bool{} // the targets of each owner
	count := map[client.Key]int{}                // the owners that have a target
	for _, owners := range f.owners {
		for _, owner := range owners {
			if said[owner] != nil {
				continue
			}
			said[owner] = map[client.Key]bool{}
			for _, b := range f.branches[owner] {
				if refers(b) {
					said[owner][b.to] = true
					count[b.to]++
				}
			}
		}
	}
	for key, list := range f.branches {
		left := map[client.Key]bool{} // the targets that an owner may also have
		for _, b := range list {
			others := count[b.to]
			if said[key][b.to] {
				others--
			}
			if refers(b) && (others > 0 || said[b.to] != nil) {
				left[b.to] = true
			}
		}
		again := map[client.Key]bool{}
		for owner := range f.above(key) {
			if len(left) == 0 { // a chain of owners may be long
				break
			}
			looks++
			for target := range left {
				if owner == target || said[owner][target] {
					again[target] = true
					delete(left, target)
				}
			}
		}
		f.branches[key] = slices.DeleteFunc(list, func(b branch) bool { return refers(b) && again[b.to] })
		f.folded.References += len(again)
	}
	for _, list := range f.branches {
		for _, b := range list {
			f.used[b.to]++
		}
	}
	return looks
}

// refers reports whether the branch is a reference to another object than the owner.
func refers(b branch) bool { return b.relation == uses || b.relation == names }

// above yields an object's owners, their owners, and so on.
func (f *folding) above(key client.Key) iter.Seq[client.Key] {
	return func(yield func(client.Key) bool) {
		seen := map[client.Key]bool{key: true}
		for left := slices.Clone(f.owners[key]); len(left) > 0; {
			next := left[0]
			left = left[1:]
			if seen[next] {
				continue
			}
			if !yield(next) {
				return
			}
			seen[next] = true
			left = append(left, f.owners[next]...)
		}
	}
}

// equal lets one object stand for all objects of the same owner, resource, state and
// references. It returns the objects that are not drawn.
func (f *folding) equal() map[client.Key]bool {
	stands := map[client.Key]client.Key{}
	for _, list := range f.branches {
		first := map[string]client.Key{}
		for _, b := range list {
			if b.relation != owns {
				continue
			}
			signature, foldable := f.signature(b.to)
			if !foldable || slices.Contains(f.roots, b.to) {
				continue
			}
			one, found := first[signature]
			if !found {
				first[signature] = b.to
				one = b.to
			}
			stands[b.to] = one
		}
	}
	away := map[client.Key]bool{}
	lost := map[client.Key]bool{} // the targets of objects that are not drawn, and of no others
	for key, one := range stands {
		if key != one {
			f.gather(one, key, lost)
			away[key] = true
			f.folded.Objects++
		}
	}
	for key := range away {
		delete(f.branches, key)
	}
	for key, list := range f.branches {
		f.branches[key] = merged(list, stands)
	}
	for _, list := range f.branches {
		for _, b := range list {
			delete(lost, b.to)
		}
	}
	for key := range lost {
		if len(f.branches[key]) == 0 && !away[key] {
			away[key] = true
			f.folded.Objects++
		}
	}
	return away
}

// gather adds the targets that only other refers to to the branches of one, which stands for it.
func (f *folding) gather(one, other client.Key, lost map[client.Key]bool) {
	mine := f.branches[one]
	for _, b := range f.branches[other] {
		if !f.private(b) {
			continue
		}
		known := slices.IndexFunc(mine, func(m branch) bool {
			return m.relation == b.relation && m.to.Group == b.to.Group && m.to.Resource == b.to.Resource && f.private(m)
		})
		if known < 0 || mine[known].to == b.to || slices.Contains(mine[known].alike, b.to) {
			continue
		}
		mine[known].alike = append(mine[known].alike, b.to)
		lost[b.to] = true
	}
}

// private reports whether no other object refers to the target of a branch, such as the claim of a
// StatefulSet's pod, or whether the target is the node of a pod.
func (f *folding) private(b branch) bool {
	return b.absence == "" && (f.used[b.to] == 1 && len(f.branches[b.to]) == 0 || b.to.Group == "" && b.to.Resource == "nodes")
}

// merged returns the branches with one branch for all objects for which the same object stands.
func merged(list []branch, stands map[client.Key]client.Key) []branch {
	type to struct {
		key      client.Key
		relation relation
	}
	at := map[to]int{}
	var result []branch
	for _, b := range list {
		if one, found := stands[b.to]; found {
			b.to = one
		}
		b.count = 1 + len(b.alike)
		i, again := at[to{b.to, b.relation}]
		if again {
			result[i].count++
			continue
		}
		at[to{b.to, b.relation}] = len(result)
		result = append(result, b)
	}
	return result
}

// signature is equal for objects that may be drawn as one. A target that only this object
// refers to counts by its resource: each pod of a StatefulSet has its own claim. An object that
// owns others is not folded.
func (f *folding) signature(key client.Key) (text string, foldable bool) {
	parts := f.remote(key)
	for _, b := range f.branches[key] {
		if b.relation == owns {
			return "", false
		}
		part := b.to.String()
		if f.private(b) {
			part = b.to.Group + "/" + b.to.Resource
		}
		parts = append(parts, fmt.Sprint(b.relation, part))
	}
	slices.Sort(parts)
	state, _ := f.state(key)
	return key.Group + "/" + key.Resource + "\n" + state + "\n" + strings.Join(slices.Compact(parts), "\n"), true
}

// troubles returns the vertices that need attention, and those above them.
func troubles(branches map[client.Key][]branch, state func(client.Key) (string, bool)) map[client.Key]bool {
	above := map[client.Key][]client.Key{}
	all := map[client.Key]bool{}
	var left []client.Key
	mark := func(key client.Key) {
		if !all[key] {
			all[key] = true
			left = append(left, key)
		}
	}
	for key, list := range branches {
		if _, bad := state(key); bad {
			mark(key)
		}
		for _, b := range list {
			if _, bad := state(b.to); bad {
				mark(b.to)
			}
			if b.wrong {
				mark(key)
			}
			if b.relation == owns {
				above[b.to] = append(above[b.to], key)
			}
		}
	}
	for len(left) > 0 {
		next := left[0]
		left = left[1:]
		for _, owner := range above[next] {
			mark(owner)
		}
	}
	return all
}

// troubleFirst sorts branches that need attention first and keeps the order otherwise. Owned
// objects still come before used ones.
func troubleFirst(branches map[client.Key][]branch, bad map[client.Key]bool) {
	rank := func(b branch) int { return rankOf(bad[b.to] || b.wrong) }
	for _, list := range branches {
		slices.SortStableFunc(list, func(a, b branch) int {
			return cmp.Or(cmp.Compare(a.relation, b.relation), cmp.Compare(rank(a), rank(b)))
		})
	}
}
