package graphview

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// report updates the rows, the warnings and the sync state of the view from its taps. It returns the
// time until the result may change without an event.
func (k *keeper) report(catalog *resources.Catalog, o plan.Outline, now delivery.State) time.Duration {
	v := k.view
	a := newStatusBuilder(o, k.selection.errs)
	a.own = v.engine.o.Own != nil
	for _, n := range slices.SortedFunc(maps.Keys(k.taps.needed), plan.ByKey) {
		if !o.Standby[n] {
			a.tap(k.taps.needed[n], v.engine.o.SyncTimeout)
		}
	}
	a.denied()
	a.undiscovered(catalog)
	v.warnings.Set(a.warnings)
	k.taps.coverage.report(k.taps.needed, &a.outline, a.rows, a.index)

	v.mu.Lock()
	changed := !slices.Equal(v.rows, a.rows)
	if v.rows = a.rows; changed {
		v.setScopeLocked()
	}
	v.mu.Unlock()
	filled := a.synced && v.state.To(delivery.State{Phase: delivery.Serving, Generation: now.Generation})
	if filled {
		if now.Before == delivery.Limited {
			v.engine.retryNext(v.name.Namespace)
		}
	}
	if changed || filled {
		v.announceNews()
	}
	return max(a.again, 10*time.Millisecond)
}

// statusBuilder collects the rows and warnings of a report.
type statusBuilder struct {
	outline  plan.Outline
	own      bool    // Options.Own restricts the view
	errs     []error // of queries
	rows     []v1alpha1.ResourceStatus
	index    map[resources.Resource]int // of rows
	warnings map[delivery.WarningID]delivery.Warning
	unlisted string // reason why the namespaces are not known
	synced   bool
	again    time.Duration // until the report may change without an event
	now      time.Time
}

func newStatusBuilder(o plan.Outline, errs []error) *statusBuilder {
	a := &statusBuilder{
		outline: o, errs: errs, synced: !o.Open(), again: time.Hour, now: time.Now(),
		rows: make([]v1alpha1.ResourceStatus, len(o.Selected)), index: make(map[resources.Resource]int), warnings: make(map[delivery.WarningID]delivery.Warning),
	}
	for i, r := range o.Selected {
		a.rows[i] = statusOf(r)
		a.rows[i].Synced = true
		a.index[r] = i
	}
	return a
}

func (a *statusBuilder) warn(w delivery.Warning) { a.warnings[w.ID()] = w }

// warnFirst adds a warning unless there is one with its ID. So the first of several watches of a
// resource has precedence.
func (a *statusBuilder) warnFirst(w delivery.Warning) {
	if _, ok := a.warnings[w.ID()]; !ok {
		a.warn(w)
	}
}

// addRow adds the state of one watch to the row of its resource. The first message stays.
func (a *statusBuilder) addRow(r resources.Resource, synced bool, message string) {
	if i, ok := a.index[r]; ok {
		a.rows[i].Synced = a.rows[i].Synced && synced
		if a.rows[i].Message == "" {
			a.rows[i].Message = message
		}
	}
}

// tap adds the state of one watch of the view. After the timeout, the view is served without the watch.
func (a *statusBuilder) tap(t *tap, timeout time.Duration) {
	state, waited := t.state(), a.now.Sub(t.acquired)
	failed := state.Err != nil
	// A tap of Namespaces is complete once the view has read its selected namespaces.
	complete := t.ready(state) && (!t.need.OfNamespaces() || t.settled)
	switch {
	case complete && !failed:
	case complete:
		since := a.now.Sub(state.Since)
		if since < unconfirmedAfter {
			a.again = min(a.again, unconfirmedAfter-since)
			break
		}
		message := fmt.Sprintf("unconfirmed since %s: %s", state.Heard.UTC().Format(time.RFC3339), delivery.Bounded(state.Err.Error()))
		a.addRow(t.need.Resource, true, message)
		a.warnFirst(syncWarning(t, message))
	case !a.own && t.need.Everywhere() && state.Reason == watch.Forbidden && !a.outline.Replaced[t.need.Resource]:
		// The plan will replace the watch after refusedAfter.
		a.again = min(a.again, refusedAfter-a.now.Sub(state.Since))
		a.synced = false
		a.addRow(t.need.Resource, false, "")
	case failed && gaveUp(state.Reason):
		a.lost(t, delivery.Bounded(state.Err.Error()))
		if a.own && state.Reason == watch.Forbidden {
			// The right was revoked after Own had granted it.
			w := syncWarning(t, "")
			delete(a.warnings, w.ID())
			a.warn(delivery.Denied(intake.ResourceOf(t.need.Resource), t.need.Resource.Namespaced, t.need.Key.Namespace))
		}
	case waited >= timeout:
		why := "it is still being listed"
		switch {
		case failed:
			why = delivery.Bounded(state.Err.Error())
		case state.Synced:
			why = "its objects are still being evaluated"
		}
		a.lost(t, fmt.Sprintf("not synced within %s, so objects may be missing: %s", timeout, why))
	default:
		a.again = min(a.again, timeout-waited)
		a.synced = false
		a.addRow(t.need.Resource, false, "")
	}
}

// lost adds a watch that the view is served without.
func (a *statusBuilder) lost(t *tap, message string) {
	a.addRow(t.need.Resource, false, message)
	a.warnFirst(syncWarning(t, message))
	if t.need.OfNamespaces() {
		a.unlisted = message
	}
}

// unconfirmedAfter is the time for which a synced watch may fail before subscribers get a warning, so
// that a watch that only reconnects causes none.
const unconfirmedAfter = 10 * time.Second

// denied adds the resources that the view may not read, and those that depend on unreadable Namespaces.
func (a *statusBuilder) denied() {
	for _, d := range a.outline.Without {
		message := delivery.Bounded(d.Message())
		a.addRow(d.Resource, d.Partly || len(d.Namespaces) > 0, message)
		switch resource := intake.ResourceOf(d.Resource); {
		case !a.own || !d.Lacks():
			a.warn(delivery.About(streamv1alpha1.InformerSyncFailed, d.Resource.String()+": "+message, resource, ""))
		case len(d.Namespaces) == 0 || len(d.Namespaces) > delivery.MaxNamedNamespaces:
			a.warn(delivery.Denied(resource, d.Resource.Namespaced, ""))
		default:
			for _, namespace := range d.Namespaces {
				a.warn(delivery.Denied(resource, true, namespace))
			}
		}
	}
	if d := a.outline.Unlisted; d != nil && a.unlisted == "" {
		a.unlisted = delivery.Bounded(d.Message())
	}
	if a.unlisted != "" {
		for _, r := range a.outline.Listed {
			a.addRow(r, false, "which namespaces there are is not known: "+a.unlisted)
		}
	}
}

// undiscovered adds the failures of discovery.
func (a *statusBuilder) undiscovered(catalog *resources.Catalog) {
	var unknown []string
	for _, f := range catalog.Failed() {
		unknown = append(unknown, fmt.Sprintf("%s is not known, what was known of it is kept: %s", groupVersion(f.Group, f.Version), delivery.Bounded(f.Err.Error())))
	}
	for _, err := range a.errs {
		unknown = append(unknown, "a query cannot decide about a resource, which is left out: "+delivery.Bounded(err.Error()))
	}
	if len(unknown) > 0 {
		a.warn(delivery.Warning{Type: streamv1alpha1.DiscoveryFailed, Message: joined(unknown)})
	}
}

// gaveUp reports whether a view should not wait for a watch that failed for the reason.
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
	return delivery.About(streamv1alpha1.InformerSyncFailed, fmt.Sprintf("%s%s: %s", r, where, message), intake.ResourceOf(r), t.need.Key.Namespace)
}

func groupVersion(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

// maxJoined limits the number of texts in one warning.
const maxJoined = 10

// joined joins the first maxJoined texts, and adds the number of the others.
func joined(texts []string) string {
	if more := len(texts) - maxJoined; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(texts[:maxJoined], "; "), more)
	}
	return strings.Join(texts, "; ")
}

// Status returns the status of the view.
func (v *View) Status() Status {
	now, lens, program := v.served()
	v.mu.Lock()
	rows := v.rows
	v.mu.Unlock()
	s := Status{Subscribers: v.publisher.Subscribers(), Synced: now.Phase == delivery.Serving, Held: v.account.Held()}
	s.Warnings = v.warnings.Summary(program == nil || program.Spec.ServiceAccountName == "")
	if now.Phase == delivery.Limited {
		s.LimitExceeded = now.Why.Message
		s.Unapplied = program == nil && !time.Now().Before(now.Until)
	}
	if lens == nil {
		return s
	}
	counts := lens.Counts()
	s.Vertices, s.Arcs, s.Roots = counts.Vertices, counts.Arcs, counts.Roots
	s.Served, s.SomeNamespaces = true, program.Namespaces != nil
	s.Advice = v.findings()
	classes, missing := v.healthCounts()
	s.Health, s.Missing = healthOf(classes), missing
	s.Resources = make([]v1alpha1.ResourceStatus, len(rows))
	for i, row := range rows {
		row.Objects = int64(counts.Objects[graph.Resource{Group: row.Group, Version: row.Version, Resource: row.Resource}])
		s.Resources[i] = row
	}
	return s
}

// served returns the state of the view, its lens and its program. The lens is nil if the view is not
// served, or has no program or no lens yet.
func (v *View) served() (now delivery.State, lens *graph.Lens, program *spec.Program) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now, program = v.state.Now(), v.program
	if program != nil && now.Phase != delivery.Limited {
		lens = v.publisher.Lens()
	}
	return now, lens, program
}

// findings returns the parts of the spec that have no effect.
func (v *View) findings() []advice.Finding {
	now, lens, program := v.served()
	if lens == nil {
		return nil
	}
	v.mu.Lock()
	advised := v.advice
	v.mu.Unlock()
	if program.Rooted() && now.Phase == delivery.Serving && lens.Counts().Roots == 0 {
		return advised.WhileRootless()
	}
	return advised.Findings
}

// healthCounts returns the number of objects of a served view by class, and the number of references
// whose target does not exist.
func (v *View) healthCounts() (classes [graph.Classes]int, missing int) {
	now, lens, _ := v.served()
	if lens == nil {
		return classes, 0
	}
	if now.Filled() {
		missing = lens.Missing() // before the first sync, targets will still arrive
	}
	return lens.Classes(), missing
}

// Status returns the status of a view, and whether the view exists.
func (e *Engine) Status(name Name) (Status, bool) {
	v, ok := e.View(name)
	if !ok {
		return Status{}, false
	}
	return v.Status(), true
}

// retryNext retries one view of a namespace that is not served because its owner held too much memory:
// the first by name. A view calls it after it has released memory, and again when it has synced after a
// retry. So views are retried one after another.
func (e *Engine) retryNext(namespace string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return
	}
	var next *View
	for name, v := range e.views {
		if name.Namespace == namespace && v.isOverdrawn() && (next == nil || name.Name < next.name.Name) {
			next = v
		}
	}
	if next != nil {
		next.retry()
	}
}

// retry makes the next retry of a view that exceeds a limit due.
func (v *View) retry() {
	now := v.state.Now()
	v.state.To(delivery.State{Phase: delivery.Limited, Generation: now.Generation, Cause: now.Cause})
	v.evaluator.Kick()
}

// isOverdrawn reports whether the view is not served because its owner held too much memory.
func (v *View) isOverdrawn() bool {
	now := v.state.Now()
	_, overdrawn := errors.AsType[*budget.Overdrawn](now.Cause)
	return now.Phase == delivery.Limited && overdrawn
}

func healthOf(classes [graph.Classes]int) v1alpha1.HealthCounts {
	return v1alpha1.HealthCounts{
		OK: int64(classes[intake.ClassOK]), Progressing: int64(classes[intake.ClassProgressing]), Degraded: int64(classes[intake.ClassDegraded]),
		Suspended: int64(classes[intake.ClassSuspended]), Terminating: int64(classes[intake.ClassTerminating]), Unknown: int64(classes[intake.ClassUnknown]),
	}
}

// statusOf returns the row of a selected resource, without its state.
func statusOf(r resources.Resource) v1alpha1.ResourceStatus {
	return v1alpha1.ResourceStatus{Group: r.Group, Version: r.Version, Resource: r.Resource, Namespaced: r.Namespaced}
}
