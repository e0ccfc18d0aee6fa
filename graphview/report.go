package graphview

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// report derives from the taps how the view stands: its rows, its warnings and
// whether it is synced. It returns when that may differ without an event.
func (v *View) report(catalog *resources.Catalog, o outline, generation int) time.Duration {
	again := time.Hour
	now := time.Now()
	live := make(map[string]warning)
	add := func(w warning) { live[w.id()] = w }
	// Of what several watches of one resource have to say, the first counts.
	addFirst := func(w warning) {
		if _, ok := live[w.id()]; !ok {
			add(w)
		}
	}

	rows := make([]ResourceStatus, len(o.selected))
	index := make(map[resources.Resource]int)
	for i, r := range o.selected {
		rows[i] = statusOf(r)
		rows[i].Synced = true
		index[r] = i
	}
	note := func(r resources.Resource, synced bool, message string) {
		if i, ok := index[r]; ok {
			rows[i].Synced = rows[i].Synced && synced
			if rows[i].Message == "" {
				rows[i].Message = message
			}
		}
	}

	synced := !o.open
	lost := func(t *tap, message string) {
		note(t.need.resource, false, message)
		addFirst(syncWarning(t, message))
		if t.namespaces != nil {
			o.unlisted = message
		}
	}
	for _, n := range slices.SortedFunc(maps.Keys(v.taps), byKey) {
		t := v.taps[n]
		state, waited := t.state(), now.Sub(t.acquired)
		failed := state.Err != nil
		// The watch of namespaces has to have been made use of.
		complete := t.ready(state) && (t.namespaces == nil || t.settled)
		switch {
		case complete && !failed:
		case complete:
			since := now.Sub(state.Since)
			if since < unconfirmedAfter {
				again = min(again, unconfirmedAfter-since)
				break
			}
			message := fmt.Sprintf("unconfirmed since %s: %s", state.Since.UTC().Format(time.RFC3339), bounded(state.Err.Error()))
			note(t.need.resource, true, message)
			addFirst(syncWarning(t, message))
		case failed && settled(state.Reason):
			lost(t, bounded(state.Err.Error()))
		case waited >= v.engine.o.SyncTimeout:
			message := fmt.Sprintf("not synced within %s", v.engine.o.SyncTimeout)
			if failed {
				message += ": " + bounded(state.Err.Error())
			}
			lost(t, message)
		default:
			again = min(again, v.engine.o.SyncTimeout-waited)
			if t.required {
				synced = false
			}
			note(t.need.resource, false, "")
		}
	}
	for _, d := range o.without {
		message := d.message()
		note(d.resource, d.partly || len(d.namespaces) > 0, message)
		w := warning{Type: "INFORMER_SYNC_FAILED", Message: d.resource.String() + ": " + message, resource: &d.resource}
		w.Attributes.set(d.resource, "", "")
		add(w)
	}
	if o.unlisted != "" {
		for _, r := range o.listed {
			note(r, false, "which namespaces there are is not known: "+o.unlisted)
		}
	}
	var undiscovered []string
	for _, f := range catalog.Failed() {
		undiscovered = append(undiscovered, fmt.Sprintf("%s is not known, what was known of it is kept: %s", groupVersion(f.Group, f.Version), bounded(f.Err.Error())))
	}
	for _, err := range o.errs {
		undiscovered = append(undiscovered, "a query cannot decide about a resource, which is left out: "+bounded(err.Error()))
	}
	if len(undiscovered) > 0 {
		add(warning{Type: "DISCOVERY_FAILED", Message: strings.Join(undiscovered, "; ")})
	}
	v.warnings.set(live)

	v.mu.Lock()
	changed := !equalRows(v.rows, rows)
	v.rows = rows
	// Under the lock that a changed spec takes: what is synced is the present one.
	if v.generation == generation && synced && !v.synced.Load() {
		v.synced.Store(true)
		changed = true
	}
	v.mu.Unlock()
	if changed {
		v.announceNews()
	}
	return max(again, 10*time.Millisecond)
}

// settled tells whether waiting longer is of no use for now.
func settled(r watch.Reason) bool {
	return r == watch.Forbidden || r == watch.NotServed || r == watch.Rejected
}

func syncWarning(t *tap, message string) warning {
	r := t.need.resource
	where := ""
	if t.need.key.Namespace != "" {
		where = " in " + t.need.key.Namespace
	}
	if t.need.key.Reduced {
		where += ", the releases of Helm in it"
	}
	w := warning{Type: "INFORMER_SYNC_FAILED", Message: fmt.Sprintf("%s%s: %s", r, where, message), resource: &r, namespace: t.need.key.Namespace}
	w.Attributes.set(r, t.need.key.Namespace, "")
	return w
}

func groupVersion(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

// maxMessage bounds what is told of an error from elsewhere.
const maxMessage = 512

func bounded(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + " …"
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
