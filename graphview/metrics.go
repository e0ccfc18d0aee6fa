package graphview

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/history"
	"graphview.dev/graphview/intake"
)

// metrics collects the metrics of an Engine. Only four metrics have labels for views, and each of
// them, or each health of one, has at most maxNamedViews views. No other label names a view, a resource or a namespace. So
// the number of series does not grow with the cluster.
type metrics struct{ engine *Engine }

// maxNamedViews bounds the views that a metric names. It names the views with the greatest values. The
// others together are one series with empty labels.
const maxNamedViews = 100

var _ prometheus.Collector = metrics{}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("graphview_"+name, help, labels, nil)
}

var (
	viewsDesc       = describe("views", "GraphViews, by state: ready, syncing, invalid or limited.", "state")
	openedDesc      = describe("connection_views", "Ad-hoc views, each made for one connection.")
	verticesDesc    = describe("vertices", "Objects in the graph that all views share.")
	arcsDesc        = describe("arcs", "References in the graph that all views share, including those to objects that are not in it.")
	objectsDesc     = describe("objects", "Visible objects of GraphViews, by health and GraphView. An object that several GraphViews show counts once for each. GraphViews without objects of a health have no series.", "health", "view_namespace", "view")
	missingDesc     = describe("missing_references", "References in GraphViews to required objects that do not exist, by GraphView. A reference that several GraphViews show counts once for each. GraphViews without any have no series.", "view_namespace", "view")
	ineffectiveDesc = describe("ineffective_parts", "Parts of GraphViews that have no effect, such as misspelt names, by GraphView. GraphViews without any have no series.", "view_namespace", "view")
	heldDesc        = describe("held_bytes", "Memory that GraphViews hold by themselves, by GraphView, and that connections and the objects of namespaces hold, without labels.", "view_namespace", "view")
	watchesDesc     = describe("watches", "Watches of resources, by state: synced, syncing or failing.", "state")
	retainedDesc    = describe("retained_objects", "Objects that watches keep in memory. One that several watches see counts once for each.")
	eventsDesc      = describe("events_total", "Events that were applied to the graph, by type: set, delete, or replay for objects that were added to another view.", "type")
	encodingsDesc   = describe("encodings_total", "Changes that were encoded, each once for all subscribers that need the same bytes.")
	failuresDesc    = describe("watch_failures_total", "Lists and watches of the API server that failed.")
	earlyDesc       = describe("lists_ended_early_total", "Lists, and pages of lists, that the API server, a proxy or the network ended before they were complete. Each goes on in smaller pages.")
	fallbacksDesc   = describe("protobuf_fallbacks_total", "Watches that could not read an answer of the API server in Protobuf and read JSON since, most likely because it is newer than this version.")
	errorsDesc      = describe("object_errors_total", "Objects that could not be processed, by reason: decode, or evaluate for each view whose expressions failed.", "reason")
	costDesc        = describe("expression_cost_total", "Cost of evaluating expressions, in CEL cost units.")
	panicsDesc      = describe("panics_total", "Panics that were recovered. Each affected one object or one spec, and is a bug: report it.")
	refusedDesc     = describe("quarantined", "1 while expressions are refused because the operator ended twice within minutes, else 0.")
	historyDesc     = describe("history_bytes", "Memory of the history of changes, or its size in the store; 0 without a history.")
	historyHeldDesc = describe("history_memory_bytes", "Memory of the history of changes: less than its size if it has a store.")
	sinceDesc       = describe("history_since_seconds", "Time from which the history has changes, in seconds since 1970; 0 without a history.")
	entriesDesc     = describe("history_entries_total", "Changes in the history, by what became of them: recorded, and dropped because they were too old or their namespace had its share.", "fate")
	exceededDesc    = describe("limit_exceeded_total", "Times that a limit was reached, by limit. docs/security.md lists the limits.", "limit")
)

// Describe implements prometheus.Collector.
func (m metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		viewsDesc, openedDesc, objectsDesc, missingDesc, ineffectiveDesc, heldDesc, verticesDesc, arcsDesc, watchesDesc, retainedDesc,
		eventsDesc, encodingsDesc, failuresDesc, earlyDesc, fallbacksDesc, errorsDesc, costDesc, panicsDesc, refusedDesc, exceededDesc,
		historyDesc, historyHeldDesc, sinceDesc, entriesDesc,
	} {
		out <- d
	}
	m.engine.reviews.Describe(out)
	m.engine.writer.Describe(out)
}

// Collect implements prometheus.Collector. Its duration depends on the number of views and watches, but
// not on the number of objects.
func (m metrics) Collect(out chan<- prometheus.Metric) {
	e := m.engine
	e.reviews.Collect(out)
	e.writer.Collect(out)
	gauge := func(d *prometheus.Desc, n int, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
	}
	counter := func(d *prometheus.Desc, n *atomic.Uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n.Load()), labels...)
	}
	views, opened := e.viewStates()
	for state, n := range views {
		gauge(viewsDesc, n, state)
	}
	states, missing, ineffective := e.healthCounts()
	for state, all := range states {
		most := mostOf(all)
		most[Name{}] += 0 // a series, also without views
		for name, n := range most {
			gauge(objectsDesc, n, string(state), name.Namespace, name.Name)
		}
	}
	for d, all := range map[*prometheus.Desc]map[Name]int{missingDesc: missing, ineffectiveDesc: ineffective, heldDesc: e.heldByViews()} {
		for name, n := range mostOf(all) {
			gauge(d, n, name.Namespace, name.Name)
		}
	}
	for state, n := range e.watchStates() {
		gauge(watchesDesc, n, state)
	}
	gauge(retainedDesc, e.Retained())
	size := e.graph.Size()
	gauge(openedDesc, opened)
	gauge(verticesDesc, size.Nodes)
	gauge(arcsDesc, size.Arcs)
	c := &e.intake.Counts
	counter(eventsDesc, &c.Sets, "set")
	counter(eventsDesc, &c.Deletes, "delete")
	counter(eventsDesc, &c.Replays, "replay")
	var recorded history.Stats
	if e.o.History != nil {
		recorded = e.o.History.Stats()
	}
	gauge(historyDesc, int(recorded.Bytes))
	gauge(historyHeldDesc, int(recorded.Memory))
	gauge(sinceDesc, int(recorded.Since/1_000_000))
	for fate, n := range map[string]uint64{"recorded": recorded.Appended, "dropped": recorded.Dropped} {
		out <- prometheus.MustNewConstMetric(entriesDesc, prometheus.CounterValue, float64(n), fate)
	}
	out <- prometheus.MustNewConstMetric(encodingsDesc, prometheus.CounterValue, float64(e.delivered.Encodings()))
	counter(failuresDesc, &c.Failures)
	out <- prometheus.MustNewConstMetric(earlyDesc, prometheus.CounterValue, float64(e.watches.ListsEndedEarly()))
	out <- prometheus.MustNewConstMetric(fallbacksDesc, prometheus.CounterValue, float64(e.watches.ProtobufFallbacks()))
	counter(errorsDesc, &c.Undecodable, "decode")
	counter(errorsDesc, &c.Unevaluated, "evaluate")
	counter(costDesc, &e.processors.Cost)
	out <- prometheus.MustNewConstMetric(panicsDesc, prometheus.CounterValue, float64(e.processors.Panics()))
	refuses := 0
	if e.refusesCostly() {
		refuses = 1
	}
	gauge(refusedDesc, refuses)
	for _, b := range budget.All() {
		out <- prometheus.MustNewConstMetric(exceededDesc, prometheus.CounterValue, float64(b.Exceedings()), b.Name())
	}
}

// healthCounts counts the objects of all named views by health, the missing references and the ineffective
// parts, each by view.
func (e *Engine) healthCounts() (states map[health.State]map[Name]int, missing, ineffective map[Name]int) {
	e.mu.Lock()
	views := maps.Clone(e.views)
	e.mu.Unlock()
	states, missing, ineffective = map[health.State]map[Name]int{}, map[Name]int{}, map[Name]int{}
	for _, state := range intake.States {
		states[state] = map[Name]int{}
	}
	for name, v := range views {
		classes, m := v.healthCounts()
		for class, state := range intake.States {
			if classes[class] > 0 {
				states[state][name] = classes[class]
			}
		}
		if m > 0 {
			missing[name] = m
		}
		if n := len(v.findings()); n > 0 {
			ineffective[name] = n
		}
	}
	return states, missing, ineffective
}

// heldByViews returns the memory of each named view, and of all connections and namespaces under the empty
// name.
func (e *Engine) heldByViews() map[Name]int {
	held, rest := make(map[Name]int), e.ledger.Total()
	for _, v := range e.Views() {
		n := v.account.Held()
		held[v.name] = int(n)
		rest -= n
	}
	held[Name{}] = int(max(0, rest))
	return held
}

// mostOf returns the maxNamedViews greatest counts, and the sum of the others under the empty name.
func mostOf(all map[Name]int) map[Name]int {
	if len(all) <= maxNamedViews {
		return all
	}
	names := slices.SortedFunc(maps.Keys(all), func(a, b Name) int {
		return cmp.Or(cmp.Compare(all[b], all[a]), strings.Compare(a.String(), b.String()))
	})
	most := map[Name]int{}
	for i, name := range names {
		if i >= maxNamedViews {
			name = Name{}
		}
		most[name] += all[names[i]]
	}
	return most
}

// stateNames are the states of a view for metrics.
var stateNames = map[delivery.Phase]string{
	delivery.Serving: "ready", delivery.Syncing: "syncing", delivery.Refused: "invalid", delivery.Limited: "limited",
}

// viewStates counts named views by state, and ad-hoc views.
func (e *Engine) viewStates() (states map[string]int, opened int) {
	states = make(map[string]int, len(stateNames))
	for _, name := range stateNames {
		states[name] = 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, v := range e.views {
		if name, ok := stateNames[v.state.Now().Phase]; ok {
			states[name]++
		}
	}
	return states, len(e.opened)
}

func (e *Engine) watchStates() map[string]int {
	states := map[string]int{"synced": 0, "syncing": 0, "failing": 0}
	for _, f := range e.intake.Feeds() {
		switch s := f.LastState(); {
		case s.Err != nil:
			states["failing"]++
		case s.Synced:
			states["synced"]++
		default:
			states["syncing"]++
		}
	}
	return states
}
