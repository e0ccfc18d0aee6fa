package watch

// Handler is told what Watches see. The calls for one Watch come one at a
// time, from its own goroutines; those for different ones concurrently.
// Any of them may block and so slow the Watch down; see the package
// documentation for what they may not do.
type Handler interface {
	// Set: the object appeared, or changed in more than its resourceVersion
	// and managedFields. One that was deleted and created again while nobody
	// looked is set with a new UID, without a Delete.
	Set(w *Watch, o *Decoded)
	// Delete: the object is gone, no longer selected, or may no longer be
	// read.
	Delete(w *Watch, o *Object)
	// Invalid: an object came that cannot be understood. What was retained of
	// it stays. A nil err takes that back. Both names are empty where the
	// object does not tell its name.
	Invalid(w *Watch, namespace, name string, err error)
	// State: the state changed, in anything but Objects.
	State(w *Watch, s State)
}
