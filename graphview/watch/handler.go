package watch

// Handler is told what one Watch sees. The calls come one at a time, from the
// Watch's own goroutines. Any of them may block and so slow the Watch down; see
// the package documentation for what they may not do.
type Handler interface {
	// Set: the object appeared, or changed in more than its resourceVersion
	// and managedFields. If it was deleted and created again between two lists, it has a new UID
	// and there was no Delete.
	Set(o *Decoded)
	// VersionOnly: the object has another resourceVersion and the content of the last Set. In between it
	// may have had other content, which other Watches saw.
	VersionOnly(o *Object)
	// Delete: the object is gone, no longer selected, or may no longer be
	// read.
	Delete(o *Object)
	// Invalid: an object cannot be decoded. The retained object stays. A nil err means that the
	// object is valid or deleted. Both names are empty if the object has no name.
	Invalid(namespace, name string, err error)
	// Namespaces are those whose objects a Partial Watch retains. The Watch asks when a list
	// begins, keeps the map until the next list, and reports it in State once the list is
	// complete.
	Namespaces() map[string]bool
	// State: the state changed, in anything but Objects.
	State(s State)
}
