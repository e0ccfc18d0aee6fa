package watch

// Handler is told what one Watch sees. The calls come one at a time, from the
// Watch's own goroutines. Any of them may block and so slow the Watch down; see
// the package documentation for what they may not do.
type Handler interface {
	// Set: the object appeared, or changed in more than its resourceVersion
	// and managedFields. One that was deleted and created again while nobody
	// looked is set with a new UID, without a Delete.
	Set(o *Decoded)
	// Same: the object has another resourceVersion, and what was set is what it is in
	// that. It may have been something else in between, which other Watches saw.
	Same(o *Object)
	// Delete: the object is gone, no longer selected, or may no longer be
	// read.
	Delete(o *Object)
	// Invalid: an object came that cannot be understood. What was retained of
	// it stays. A nil err takes that back. Both names are empty where the
	// object does not tell its name.
	Invalid(namespace, name string, err error)
	// Namespaces are those whose objects a Partial Watch retains. The Watch asks when a list
	// begins, keeps the map until the next list, and reports it in State once the list is
	// complete.
	Namespaces() map[string]bool
	// State: the state changed, in anything but Objects.
	State(s State)
}
