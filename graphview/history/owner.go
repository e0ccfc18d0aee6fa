package history

// owner has the entries of the objects of one namespace, the oldest first.
type owner struct {
	namespace string
	segments  []*segment
	bytes     int64
	memory    int64 // of the texts of segments that are in memory
	// since is the time of the newest entry that was dropped, 0 if there is none.
	since int64
	// live is the number of objects of the namespace in the graph, and same the time since when the namespace is
	// certain to be the same one. ended is when the Namespace was last deleted, 0 for never.
	live        int
	same, ended int64
}

func (l *Log) ownerLocked(namespace string) *owner {
	o := l.owners[namespace]
	if o == nil {
		o = &owner{namespace: namespace}
		l.owners[namespace] = o
		l.chargeLocked(o, ownerBytes)
	}
	return o
}

func (l *Log) chargeLocked(o *owner, bytes int64) {
	o.bytes += bytes
	l.bytes += bytes
}

// beginLocked records that the history of an owner is complete from a time on, 0 if all of it is.
func (l *Log) beginLocked(o *owner, at int64) {
	o.since = at
	if l.o.Store != nil {
		l.o.Store.since[o.namespace] = at
	}
}

// holdLocked adds to the memory of the texts of an owner.
func (l *Log) holdLocked(o *owner, bytes int64) {
	o.memory += bytes
	l.memory += bytes
}

// Occupy records that an object of a namespace, which was created at a time, is in the graph, and Vacate that one is
// no longer. A namespace in which there always was an object since a time was not deleted since.
func (l *Log) Occupy(namespace string, created int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.ownerLocked(namespace)
	if o.live++; o.live == 1 {
		o.same = l.now()
	}
	o.same = min(o.same, created)
}

// Vacate is the inverse of Occupy.
func (l *Log) Vacate(namespace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ownerLocked(namespace).live--
}

// End records that a Namespace was deleted. Watches that are interrupted may have objects of it for longer.
func (l *Log) End(namespace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ownerLocked(namespace).ended = max(l.now(), l.last)
}

// Foreign reports whether a namespace may be another one of the same name than at a time: it may have been deleted
// since. Then changes of that time may be another tenant's.
func (l *Log) Foreign(namespace string, at int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.owners[namespace]
	return namespace != "" && (o == nil || o.live <= 0 || o.same > at || o.ended >= at && o.ended != 0)
}
