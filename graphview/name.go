package graphview

// Name is the name of a view: that of the GraphView that declares it.
type Name struct {
	Namespace, Name string
}

// String returns namespace/name.
func (n Name) String() string { return n.Namespace + "/" + n.Name }
