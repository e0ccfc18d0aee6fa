//go:build !race

package graph

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"graphview.dev/graphview/budget"
)

// countedObjects are in each of countedLenses.
const countedObjects, countedLenses = 3_000, 20

// countedWorld is a graph in which any change of everything is more than a slice.
type countedWorld struct {
	*crowd

	all  []*Lens
	l    *Lens  // one of them
	node NodeID // of an object
}

// changesInUpdate makes each change of the graph that is possible in Update, with as much work as it may
// cause. It counts at least the given number of visits, in all its revisions together. A query counts
// nothing, and must be of constant time.
var changesInUpdate = map[string]struct {
	visits int
	change func(w *countedWorld)
}{
	"Graph.AddSource":       {countedObjects, func(w *countedWorld) { w.g.AddSource(podKind, podsV1, ScopeCluster) }},
	"Graph.RemoveSource":    {countedObjects * (countedLenses + 1), func(w *countedWorld) { w.g.RemoveSource(w.pods) }},
	"Graph.NewLens":         {0, func(w *countedWorld) { w.g.NewLens() }},
	"Graph.Lapse":           {countedObjects * (countedLenses + 1), func(w *countedWorld) { w.g.Lapse(100) }},
	"Graph.Set":             {countedObjects, func(w *countedWorld) { w.set(w.maps, everyPod("hub")) }},
	"Graph.Remove":          {countedObjects, func(w *countedWorld) { w.g.Remove(w.maps, "shop", "other-hub") }},
	"Graph.RetryReferences": {0, func(w *countedWorld) { w.g.RetryReferences() }},
	"Graph.Misplaced":       {0, func(w *countedWorld) { w.g.Misplaced() }},
	"Graph.Exceeded":        {0, func(w *countedWorld) { _ = w.g.Exceeded(w.node) }},
	"Graph.Find":            {0, func(w *countedWorld) { w.g.Find(w.pods, "shop", "p1") }},
	"Graph.Key":             {0, func(w *countedWorld) { w.g.Key(w.node) }},
	"Graph.Payload":         {0, func(w *countedWorld) { w.g.Payload(w.node) }},
	"Graph.MayKeep":         {0, func(w *countedWorld) { w.g.MayKeep(w.pods, &Object{Namespace: "shop", Name: "p1"}, 1) }},
	"Graph.Awaits":          {0, func(w *countedWorld) { w.g.Awaits(w.node) }},
	"Graph.Confirm":         {0, func(w *countedWorld) { w.g.Confirm(w.pods, "shop", "p1", 1, 1) }},
	"Graph.Has":             {0, func(w *countedWorld) { w.g.Has(w.node, 1) }},
	"Graph.Newer":           {0, func(w *countedWorld) { w.g.Newer(w.node, 1) }},
	"Graph.Sources":         {0, func(w *countedWorld) { w.g.Sources(w.node) }},
	"Graph.Visits":          {0, func(w *countedWorld) { w.g.Visits() }},
	"Graph.Alive":           {0, func(w *countedWorld) { w.g.Alive(w.node) }},
	"Lens.Shows":            {0, func(w *countedWorld) { w.l.Shows(w.node) }},
	"Lens.Close":            {countedObjects, func(w *countedWorld) { w.l.Close() }},
	"Lens.Watch":            {0, func(w *countedWorld) { w.l.Watch(w.spaces) }},
	"Lens.Unwatch":          {countedObjects, func(w *countedWorld) { w.l.Unwatch(w.pods) }},
	"Lens.Announce":         {0, func(w *countedWorld) { w.l.Announce() }},
	"Lens.Use":              {countedObjects, func(w *countedWorld) { w.l.Use(podKind, Resource{Version: "v2", Resource: "pods"}) }},
	"Lens.Unuse":            {countedObjects, func(w *countedWorld) { w.l.Unuse(podKind) }},
	"Lens.Cover": {countedObjects, func(w *countedWorld) {
		w.l.Cover(podKind, Coverage{Namespaces: map[string]bool{}})
	}},
	"Lens.SetInferred": {countedObjects, func(w *countedWorld) { w.l.SetInferred(false) }},
	"Lens.SetRoots":    {countedObjects, func(w *countedWorld) { w.l.SetRoots(true, Walk{}) }},
	"Lens.Select":      {countedObjects, func(w *countedWorld) { w.selects(w.all[1], w.maps, "other-hub") }},
	"Lens.SetOwner":    {0, func(w *countedWorld) { w.l.SetOwner(budget.NamespaceOwner("shop")) }},
	"Lens.Forget":      {1, func(w *countedWorld) { w.l.Forget(w.l.Head()) }},
}

func newCountedWorld() *countedWorld {
	w := &countedWorld{crowd: newCrowd(0, 0)}
	w.change(func() {
		for i := range countedObjects {
			w.set(w.pods, Object{
				Namespace: "shop", Name: fmt.Sprint("p", i), Class: 2, LapsesAt: 100, LapsesTo: 3,
				References: []Reference{{Type: Direct, To: podKind, Namespace: "shop", Name: "absent"}},
			})
		}
	})
	w.change(func() { w.set(w.maps, everyPod("other-hub")) })
	for range countedLenses {
		w.change(func() {
			l := w.newLens()
			for i := range countedObjects {
				w.selects(l, w.pods, fmt.Sprint("p", i))
			}
			w.all = append(w.all, l)
		})
	}
	w.l = w.all[0]
	w.g.Update(func() { w.node = w.g.Find(w.pods, "shop", "p1") })
	return w
}

// TestChangesAreCounted: each exported method that says "In Update" counts its work, and makes it in
// slices if it is much. One that counts nothing would lock the graph for as long as it takes.
func TestChangesAreCounted(t *testing.T) {
	for _, name := range updateMethods(t) {
		test, listed := changesInUpdate[name]
		if !listed {
			t.Errorf("%s may only be called in Update: add it to changesInUpdate", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := newCountedWorld()
			w.change(func() { test.change(w) })
			if w.total < test.visits {
				t.Errorf("%d visits, want at least %d", w.total, test.visits)
			}
			if most := 2*sliceVisits*sliceChanges + w.entries(); w.most > most {
				t.Errorf("%d visits in one revision, want at most %d", w.most, most)
			}
		})
	}
	for name := range maps.Keys(changesInUpdate) {
		if !slices.Contains(updateMethods(t), name) {
			t.Errorf("changesInUpdate has %s, which is no exported method that says \"In Update\"", name)
		}
	}
}

// entries returns the number of elements of one lens, which is committed with the graph unlocked if all are visited.
func (w *countedWorld) entries() int { return 4 * (countedObjects + 2) }

// updateMethods returns the exported methods with a comment that says "In Update".
func updateMethods(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, updateMethodsOf(parsed)...)
	}
	slices.Sort(names)
	return names
}

// updateMethodsOf is updateMethods for one file.
func updateMethodsOf(file *ast.File) (names []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		f, ok := n.(*ast.FuncDecl)
		if !ok || f.Recv == nil || !f.Name.IsExported() || !strings.Contains(strings.Join(strings.Fields(f.Doc.Text()), " "), "In Update") {
			return true
		}
		if of, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
			names = append(names, of.X.(*ast.Ident).Name+"."+f.Name.Name)
		}
		return true
	})
	return names
}
