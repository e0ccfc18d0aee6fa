package graphview

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// report derives from the taps how the view stands: its rows, its warnings and
// whether it is synced. It returns when that may differ without an event.
func (k *keeper) report(catalog *resources.Catalog, o plan.Outline, generation int) time.Duration {
	v := k.view
	a := newStatusBuilder(o, k.selection.errs)
	for _, n := range slices.SortedFunc(maps.Keys(k.taps), plan.ByKey) {
		if !o.Standby[n] {
			a.tap(k.taps[n], v.engine.o.SyncTimeout)
		}
	}
	for _, n := range slices.SortedFunc(maps.Keys(k.unmet), plan.ByKey) {
		a.unmet(n, k.unmet[n])
	}
	a.denied()
	a.undiscovered(catalog)
	v.warnings.Set(a.warnings)
	k.cover(a)

	v.mu.Lock()
	changed := !equalRows(v.rows, a.rows)
	if v.rows = a.rows; changed {
		v.scoped++
	}
	// Under the lock that a changed spec takes: what is synced is the present one.
	filled := v.generation == generation && a.synced && !v.synced.Load()
	if filled {
		v.synced.Store(true)
	}
	v.mu.Unlock()
	if filled {
		v.filled.Store(true)
		v.engine.writer.Send(writer.Func(v.lens.Compact))
	}
	if changed || filled {
		v.announceNews()
	}
	return max(a.again, 10*time.Millisecond)
}

// statusBuilder is what a report consists of, as far as it has come.
type statusBuilder struct {
	outline  plan.Outline
	errs     []error // of queries
	rows     []ResourceStatus
	index    map[resources.Resource]int // of rows
	warnings map[delivery.WarningID]delivery.Warning
	unlisted string // why the namespaces are not known
	synced   bool
	again    time.Duration // until something differs without an event
	now      time.Time
}

func newStatusBuilder(o plan.Outline, errs []error) *statusBuilder {
	a := &statusBuilder{
		outline: o, errs: errs, synced: !o.Open(), again: time.Hour, now: time.Now(),
		rows: make([]ResourceStatus, len(o.Selected)), index: make(map[resources.Resource]int), warnings: make(map[delivery.WarningID]delivery.Warning),
	}
	for i, r := range o.Selected {
		a.rows[i] = statusOf(r)
		a.rows[i].Synced = true
		a.index[r] = i
	}
	return a
}

func (a *statusBuilder) warn(w delivery.Warning) { a.warnings[w.ID()] = w }

// warnFirst is warn, unless there is such a warning: of what several watches of one
// resource have to say, the first counts.
func (a *statusBuilder) warnFirst(w delivery.Warning) {
	if _, ok := a.warnings[w.ID()]; !ok {
		a.warn(w)
	}
}

// note adds to the row of a resource that the view selected.
func (a *statusBuilder) note(r resources.Resource, synced bool, message string) {
	if i, ok := a.index[r]; ok {
		a.rows[i].Synced = a.rows[i].Synced && synced
		if a.rows[i].Message == "" {
			a.rows[i].Message = message
		}
	}
}

// tap adds how one of the view's watches stands, which is given up for now after
// the timeout.
func (a *statusBuilder) tap(t *tap, timeout time.Duration) {
	state, waited := t.state(), a.now.Sub(t.acquired)
	failed := state.Err != nil
	// The view has to have read the namespaces that it selects.
	complete := t.ready(state) && (!t.need.OfNamespaces() || t.settled)
	switch {
	case complete && !failed:
	case complete:
		since := a.now.Sub(state.Since)
		if since < unconfirmedAfter {
			a.again = min(a.again, unconfirmedAfter-since)
			break
		}
		message := fmt.Sprintf("unconfirmed since %s: %s", state.Since.UTC().Format(time.RFC3339), delivery.Bounded(state.Err.Error()))
		a.note(t.need.Resource, true, message)
		a.warnFirst(syncWarning(t, message))
	case t.need.Everywhere() && state.Reason == watch.Forbidden && !a.outline.Replaced[t.need.Resource]:
		// The plan does not replace the watch yet.
		a.again = min(a.again, refusedAfter-a.now.Sub(state.Since))
		a.synced = false
		a.note(t.need.Resource, false, "")
	case failed && gaveUp(state.Reason):
		a.lost(t, delivery.Bounded(state.Err.Error()))
	case waited >= timeout:
		why := "it is still being listed"
		switch {
		case failed:
			why = delivery.Bounded(state.Err.Error())
		case state.Synced && !t.lacking:
			why = "its objects are still being evaluated"
		}
		a.lost(t, fmt.Sprintf("not synced within %s, so objects may be missing: %s", timeout, why))
	default:
		a.again = min(a.again, timeout-waited)
		a.synced = false
		a.note(t.need.Resource, false, "")
	}
}

// lost adds that the view does without a watch.
func (a *statusBuilder) lost(t *tap, message string) {
	a.note(t.need.Resource, false, message)
	a.warnFirst(syncWarning(t, message))
	if t.need.OfNamespaces() {
		a.unlisted = message
	}
}

// unconfirmedAfter is how long a synced resource may be out of reach before
// subscribers are told: a watch that is merely re-established is no news.
const unconfirmedAfter = 10 * time.Second

// retryUnmet is how long after a watch was not granted it is asked for again.
const retryUnmet = 30 * time.Second

// unmet adds a watch that the view has to do without.
func (a *statusBuilder) unmet(n plan.Need, err error) {
	message := "left out: " + err.Error()
	a.again = min(a.again, retryUnmet)
	a.note(n.Resource, false, message)
	a.warnFirst(delivery.About(delivery.InformerSyncFailed, n.Resource.String()+": "+message, intake.ResourceOf(n.Resource), ""))
}

// denied adds what may not be read, and what depends on that.
func (a *statusBuilder) denied() {
	for _, d := range a.outline.Without {
		message := delivery.Bounded(d.Message())
		a.note(d.Resource, d.Partly || len(d.Namespaces) > 0, message)
		a.warn(delivery.About(delivery.InformerSyncFailed, d.Resource.String()+": "+message, intake.ResourceOf(d.Resource), ""))
	}
	if d := a.outline.Unlisted; d != nil && a.unlisted == "" {
		a.unlisted = delivery.Bounded(d.Message())
	}
	if a.unlisted != "" {
		for _, r := range a.outline.Listed {
			a.note(r, false, "which namespaces there are is not known: "+a.unlisted)
		}
	}
}

// undiscovered adds what is not known of what the cluster serves.
func (a *statusBuilder) undiscovered(catalog *resources.Catalog) {
	var unknown []string
	for _, f := range catalog.Failed() {
		unknown = append(unknown, fmt.Sprintf("%s is not known, what was known of it is kept: %s", groupVersion(f.Group, f.Version), delivery.Bounded(f.Err.Error())))
	}
	for _, err := range a.errs {
		unknown = append(unknown, "a query cannot decide about a resource, which is left out: "+delivery.Bounded(err.Error()))
	}
	if len(unknown) > 0 {
		a.warn(delivery.Warning{Type: delivery.DiscoveryFailed, Message: joined(unknown)})
	}
}

// gaveUp tells whether waiting longer is of no use for now.
func gaveUp(r watch.Reason) bool {
	return r == watch.Forbidden || r == watch.NotServed || r == watch.Rejected
}

func syncWarning(t *tap, message string) delivery.Warning {
	r := t.need.Resource
	where := ""
	if t.need.Key.Namespace != "" {
		where = " in " + t.need.Key.Namespace
	}
	if t.need.OfReleases() {
		where += ", the releases of Helm in it"
	}
	return delivery.About(delivery.InformerSyncFailed, fmt.Sprintf("%s%s: %s", r, where, message), intake.ResourceOf(r), t.need.Key.Namespace)
}

func groupVersion(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

// maxJoined is how many texts one warning puts together.
const maxJoined = 10

// joined is the first of many texts, and how many more there are.
func joined(texts []string) string {
	if more := len(texts) - maxJoined; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(texts[:maxJoined], "; "), more)
	}
	return strings.Join(texts, "; ")
}

func equalRows(a, b []ResourceStatus) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
