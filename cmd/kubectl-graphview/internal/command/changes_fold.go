package command

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"graphview.dev/client"
	"graphview.dev/graphview/health"
)

// changeLine is a line about changes: one act, or the consequences for the objects of one controller.
type changeLine struct {
	// changes are the changes, the newest first.
	changes []*client.Change
	act     bool
}

const (
	// mostConsequences is the number of lines of consequences above an act, so that the last act stands within the first
	// three lines, and the one before it within six.
	mostConsequences = 2
	// reordered is how much later than its consequences an act may be recorded, since each resource has its own watch.
	reordered = time.Second
	// leastSeries is the length of a series of changes that no user makes by hand.
	leastSeries = 3
)

// foldChanges returns the lines of changes, the newest first, and the number of changes that no line shows. An act has a
// line, and so have the worst consequences after it; a good one only if no act followed. docs/history.md has the rule.
func foldChanges(changes []client.Change, object *client.Key) (lines []changeLine, left int) {
	var consequences []*client.Change
	flush := func() {
		kept, hidden := worstOf(consequences, object, len(lines) > 0)
		lines, left, consequences = append(lines, kept...), left+hidden, nil
	}
	settled := settledReferences(changes)
	last := -1 // the line of the last act
	for _, c := range causesFirst(changes) {
		switch {
		case isNoise(c) || settled[c]:
			left++
		case !isAct(c):
			consequences = append(consequences, c)
		case last >= 0 && alike(lines[last].changes[0], c):
			lines[last].changes = append(lines[last].changes, c)
		default:
			flush()
			last, lines = len(lines), append(lines, changeLine{changes: []*client.Change{c}, act: true})
		}
	}
	flush()
	return lines, left
}

// causesFirst returns changes, the newest first, with acts after the consequences that were recorded a moment before them.
func causesFirst(changes []client.Change) []*client.Change {
	all := make([]*client.Change, 0, len(changes))
	for i := range changes {
		all = append(all, &changes[i])
	}
	at := func(c *client.Change) time.Time {
		if isAct(c) {
			return c.Time.Add(-reordered)
		}
		return c.Time.Time
	}
	slices.SortStableFunc(all, func(a, b *client.Change) int { return at(b).Compare(at(a)) })
	return all
}

// isAct reports whether a change is no consequence of another one. Changes of objects that a controller of Kubernetes makes are
// consequences, and so is health, except for that of an object that others use, such as a node.
func isAct(c *client.Change) bool {
	if made := controllerOf(c); made != nil && slices.Contains([]string{"", "apps", "batch"}, made.Group) {
		return false
	}
	switch c.Type {
	case client.ChangeAdded, client.ChangeRemoved:
		return true
	case client.ChangeContent:
		return c.Times < leastSeries
	case client.ChangeHealth:
		return c.Via != nil && !c.Via.Up && len(c.Via.Words) > 0 && severityOf(c) > health.Unknown.Severity()
	default:
		return false
	}
}

// controllerOf returns the owner of the object of a change, nil if it is not known to have one.
func controllerOf(c *client.Change) *client.Key {
	switch {
	case c.Controller != nil:
		return c.Controller
	case c.Via != nil && c.Via.Up && len(c.Via.Words) == 0:
		return &c.Via.Key
	}
	return nil
}

// isNoise reports whether a change says nothing of an application: that of a kind that new GraphViews exclude, or of fields
// that Kubernetes writes itself.
func isNoise(c *client.Change) bool {
	switch c.Key.Group {
	case "coordination.k8s.io", "events.k8s.io":
		return true
	case "":
		if c.Key.Resource == "events" || c.Key.Resource == "endpoints" {
			return true
		}
	}
	return c.Type == client.ChangeContent && len(c.Paths) > 0 && c.MorePaths == 0 && !slices.ContainsFunc(c.Paths, func(p client.ChangedPath) bool { return !writtenByKubernetes(p.Path) })
}

// writtenByKubernetes reports whether Kubernetes writes a field by itself: a part of the metadata that no manifest has, or
// an annotation of its own.
func writtenByKubernetes(path string) bool {
	key, isAnnotation := strings.CutPrefix(path, "metadata.annotations")
	switch {
	case isAnnotation:
		domain, _, _ := strings.Cut(strings.Trim(key, ".[]"), "/")
		return strings.HasSuffix(domain, "kubernetes.io") || strings.HasSuffix(domain, "k8s.io")
	case strings.HasPrefix(path, "metadata.labels"):
		return false
	}
	return strings.HasPrefix(path, "metadata.") || strings.HasPrefix(path, "status")
}

// settledReferences returns the changes of references that the changes of their destinations tell.
func settledReferences(changes []client.Change) map[*client.Change]bool {
	told := map[client.Key]bool{}
	for i := range changes {
		if c := &changes[i]; c.Type == client.ChangeAdded || c.Type == client.ChangeRemoved {
			told[unversioned(c.Key)] = true
		}
	}
	settled := map[*client.Change]bool{}
	for i := range changes {
		if c := &changes[i]; c.Reference != nil && told[unversioned(c.Reference.To)] {
			settled[c] = true
		}
	}
	return settled
}

func unversioned(key client.Key) client.Key {
	key.Version = ""
	return key
}

// alike reports whether two changes say the same of two objects, to which the same leads.
func alike(a, b *client.Change) bool {
	return a.Type == b.Type && a.Key.Group == b.Key.Group && a.Key.Resource == b.Key.Resource && unversioned(a.Key) != unversioned(b.Key) &&
		slices.EqualFunc(a.Paths, b.Paths, func(a, b client.ChangedPath) bool { return a.Path == b.Path && a.Op == b.Op }) &&
		a.MorePaths == b.MorePaths && (a.Via == nil) == (b.Via == nil) && (a.Via == nil || slices.Equal(a.Via.Words, b.Via.Words) && a.Via.Up == b.Via.Up)
}

// worstOf returns the lines of the worst consequences, the newest first, and the number of other changes. The objects
// of one controller are one line. If onlyBad, lines without a bad health are left out.
func worstOf(consequences []*client.Change, object *client.Key, onlyBad bool) (lines []changeLine, left int) {
	type group struct {
		resource, owner client.Key
	}
	at := map[group]int{}
	for _, c := range consequences {
		of := group{resource: client.Key{Group: c.Key.Group, Resource: c.Key.Resource}, owner: unversioned(c.Key)}
		if owner := controllerOf(c); owner != nil {
			of.owner = unversioned(*owner)
		}
		i, found := at[of]
		if !found {
			i = len(lines)
			at[of], lines = i, append(lines, changeLine{})
		}
		lines[i].changes = append(lines[i].changes, c)
	}
	own := func(l *changeLine) int {
		if object != nil && unversioned(l.changes[0].Key) == unversioned(*object) {
			return 1
		}
		return 0
	}
	depth := func(l *changeLine) int {
		if via := l.changes[0].Via; via != nil {
			return via.Depth
		}
		return 0
	}
	slices.SortStableFunc(lines, func(a, b changeLine) int {
		return cmp.Or(b.severity()-a.severity(), own(&b)-own(&a), depth(&b)-depth(&a), b.time().Compare(a.time()))
	})
	kept := min(len(lines), mostConsequences)
	for onlyBad && kept > 0 && lines[kept-1].severity() <= health.Unknown.Severity() {
		kept--
	}
	for _, l := range lines[kept:] {
		left += len(l.changes)
	}
	lines = lines[:kept]
	slices.SortStableFunc(lines, func(a, b changeLine) int { return b.time().Compare(a.time()) })
	return lines, left
}

func (l *changeLine) time() time.Time { return l.changes[0].Time.Time }

// severity is that of the worst object at the end.
func (l *changeLine) severity() (worst int) {
	for _, c := range l.atEnd() {
		worst = max(worst, severityOf(c))
	}
	return worst
}

// atEnd returns the changes without those of healths that an object had only in between.
func (l *changeLine) atEnd() []*client.Change {
	var all []*client.Change
	said := map[client.Key]bool{}
	for _, c := range l.changes {
		saysHealth := c.Type == client.ChangeHealth || c.Type == client.ChangeRemoved
		if c.Type == client.ChangeHealth && said[c.Key] {
			continue
		}
		if c.Type == client.ChangeAdded && said[c.Key] {
			added := *c
			added.Health, c = nil, &added
		}
		said[c.Key] = said[c.Key] || saysHealth
		all = append(all, c)
	}
	return all
}

// severityOf returns the severity of the health after a change.
func severityOf(c *client.Change) int {
	switch {
	case c.Type == client.ChangeHealth && c.Health != nil, c.Type == client.ChangeAdded && c.Health != nil:
		return health.State(c.Health.To).Severity()
	case c.Reference != nil && c.Reference.Change == client.OpMissing:
		return health.Degraded.Severity()
	}
	return 0
}

// actBefore returns the last act before an object got into its present trouble, nil if none is known. since is the time from
// which the trouble is known to last, or 0.
func actBefore(answer *client.Changes, since int64) *client.Change {
	var began time.Time
	if since != 0 {
		began = time.Unix(since+1, 0)
	}
	for i := range answer.Changes {
		c := &answer.Changes[i]
		if c.Via != nil || c.Health == nil || c.Type == client.ChangeRemoved {
			continue
		}
		if severityOf(c) <= health.Unknown.Severity() {
			break
		}
		began = c.Time.Time
	}
	for i := range answer.Changes {
		if c := &answer.Changes[i]; isAct(c) && !isNoise(c) && (began.IsZero() || !c.Time.After(began.Add(reordered))) {
			return c
		}
	}
	return nil
}
