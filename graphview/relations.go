package graphview

import (
	"errors"
	"maps"

	"github.com/prometheus/client_golang/prometheus"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/graph"
)

// maxRelations bounds the references that graphview_relation_info names, and relationsAtOnce the objects that a
// scrape reads under the lock.
const (
	maxRelations    = 50_000
	relationsAtOnce = 1000
)

var (
	relationDesc = describe("relation_info", "References between objects of the GraphViews in --relation-metrics, each once. References from and to Secrets, to absent objects, and references that are only inferred have no series.",
		"from_kind", "from_namespace", "from_name", "to_kind", "to_namespace", "to_name", "type")
	relationsLeftOutDesc = describe("relations_left_out", "References that graphview_relation_info leaves out, since there are more than it may name.")
)

// relations are the references of the views that Options.Relations names. Without such views they collect nothing.
type relations struct {
	engine *Engine
	limit  int
}

var _ prometheus.Collector = relations{}

// Describe implements prometheus.Collector.
func (r relations) Describe(out chan<- *prometheus.Desc) {
	out <- relationDesc
	out <- relationsLeftOutDesc
}

// Collect implements prometheus.Collector. Its duration depends on the number of references. A view whose references
// do not fit has no series: a part of them would be another part after each change.
func (r relations) Collect(out chan<- prometheus.Metric) {
	all, leftOut := map[relation]bool{}, 0
	for _, name := range r.engine.o.Relations {
		v, ok := r.engine.View(name)
		if !ok {
			continue
		}
		if _, lens, _ := v.served(); lens != nil {
			found, n := readRelations(lens, r.limit-len(all))
			if found == nil {
				leftOut += n
			}
			maps.Copy(all, found)
		}
	}
	for of := range all {
		out <- prometheus.MustNewConstMetric(relationDesc, prometheus.GaugeValue, 1, of[:]...)
	}
	out <- prometheus.MustNewConstMetric(relationsLeftOutDesc, prometheus.GaugeValue, float64(leftOut))
}

// relation has the values of the labels of a reference.
type relation [7]string

// readRelations returns the references of a lens, nil if there are more than limit or the lens is closed, and their
// number. A reader that falls behind the lens begins again.
func readRelations(lens *graph.Lens, limit int) (found map[relation]bool, n int) {
	kinds := map[graph.Resource]graph.Kind{}
	used, _ := lens.Uses(0)
	for _, of := range used {
		kinds[of.Resource] = of.Kind
	}
	secret := graph.Kind{Kind: "Secret"}
	found = map[relation]bool{}
	var at graph.Position
	for {
		done, err := lens.Read(&at, relationsAtOnce, graph.Reading{}, func(c graph.Change) bool {
			from, to := kinds[c.Vertex.Resource], kinds[c.To.Resource]
			of := relation{from.Kind, c.Vertex.Namespace, c.Vertex.Name, to.Kind, c.To.Namespace, c.To.Name, c.Type.String()}
			switch {
			case c.Op == graph.DeleteArc:
				delete(found, of)
			case c.Op == graph.SetArc && !c.Missing && from != secret && to != secret && !streamv1alpha1.Attributes{Fields: c.Fields}.Inferred():
				if n++; n > limit {
					found = nil
				} else {
					found[of] = true
				}
			}
			return true
		})
		switch {
		case errors.Is(err, graph.ErrClosed):
			return nil, 0
		case err != nil:
			at, found, n = graph.Position{}, map[relation]bool{}, 0
		case done:
			return found, n
		}
	}
}
