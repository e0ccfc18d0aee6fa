package mine

// Class is how sure it is that a field refers to what a claim says.
type Class int

// The classes of claims.
const (
	// Coincidence: the value is the name of an object, and nothing else speaks for it.
	Coincidence Class = iota
	// Likely: something else speaks for it, but not clearly.
	Likely
	// Sure: a kind beside the name, or a key or a description that says the kind of an
	// object that is there, or what Kubernetes itself writes so.
	Sure
)

func (c Class) String() string { return [...]string{"coincidence", "likely", "sure"}[c] }

// Target is an object that may be meant.
type Target struct {
	Kind            Kind
	Namespace, Name string
}

// Claim says that a field of an object refers to one of some objects, or selects by
// labels.
type Claim struct {
	Object *Object
	Path   string
	// Targets are the objects that may be meant, any of them; empty for a selector.
	Targets  []Target
	Selector bool
	Class    Class
	Reason   string
	// Exists: the target is among the objects.
	Exists bool
}
