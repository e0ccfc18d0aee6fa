package plan

import "time"

// Bounds of the time between two lists of a partial watch. Lists take at most a twentieth of the
// time, and at most a hundredth for each namespace that waits for the next one.
const (
	relistShare        = 20
	relistShareForEach = 100
	relistEvery        = 5 * time.Minute
)

// Lister is a partial watch. A *watch.Watch is one.
type Lister interface {
	// ID is greater than that of all earlier watches with the same key.
	ID() uint32
	// Relist begins another list. It must not block.
	Relist()
	// ListTime is the duration of the last list or, if longer, of the list under way.
	ListTime() time.Duration
}

// list is the last list of a partial watch, complete or not.
type list struct {
	by         Lister
	began      time.Time
	namespaces map[string]bool
	// waiting counts demanded namespaces that the list does not have, unneeded the listed
	// namespaces that no view demands any more.
	waiting, unneeded int
	// relists: another list was requested.
	relists bool
}

// Begin records that a partial watch lists, and returns the namespaces that views demand
// of it. The map does not change.
func (b *Book[K, V]) Begin(k K, by Lister, now time.Time) map[string]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	namespaces := make(map[string]bool)
	if e := b.entries[k]; e != nil {
		for namespace := range e.namespaces {
			namespaces[namespace] = true
		}
	}
	if last := b.lists[k]; last == nil || last.by.ID() <= by.ID() {
		b.lists[k] = &list{by: by, began: now, namespaces: namespaces}
	}
	return namespaces
}

// End records that a partial watch has stopped.
func (b *Book[K, V]) End(k K, by Lister) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if last := b.lists[k]; last != nil && last.by.ID() == by.ID() {
		delete(b.lists, k)
	}
}

// demanded records that views began, or ceased, to demand a namespace.
func (l *list) demanded(namespace string, now bool) {
	by := 1
	if !now {
		by = -1
	}
	switch {
	case l == nil:
	case l.namespaces[namespace]:
		l.unneeded -= by
	default:
		l.waiting += by
	}
}

// relist requests another list if one is due, and returns the time until one is. More waiting
// than listed namespaces do not wait: the number of lists then grows with the logarithm of
// the number of namespaces.
func (l *list) relist(now time.Time) (again time.Duration) {
	if l == nil || l.relists || l.waiting == 0 && l.unneeded <= max(maxApart, len(l.namespaces)/2) {
		return time.Hour
	}
	took, pause := l.by.ListTime(), relistEvery
	if l.waiting > 0 {
		pause = min(pause, relistShareForEach*took/time.Duration(l.waiting))
	}
	due := l.began.Add(max(pause, relistShare*took))
	if l.waiting <= len(l.namespaces) && now.Before(due) {
		return due.Sub(now)
	}
	l.relists = true
	l.by.Relist()
	return time.Hour
}

// with adds what is known of the list.
func (s Share) with(l *list) Share {
	if l != nil {
		s.Listed, s.Relists = l.namespaces, l.relists
	}
	return s
}
