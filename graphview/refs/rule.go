package refs

import "graphview.dev/graphview/graph"

// AnyKind stands for every kind there is, as a rule's From.
var AnyKind = graph.Kind{Group: "*", Kind: "*"}

// Rule says that a field of a kind refers to other objects. The package
// documentation describes paths and companion fields.
type Rule struct {
	// From is the kind of the objects that have the field, in any version.
	From graph.Kind
	// Path of the field, from the object's root.
	Path string
	// Method is how the value at Path refers to its target.
	Method Method
	// To is the target's kind.
	To Target
	// Type of the arc: graph.Direct (if zero) or graph.Transitive.
	Type graph.ArcType
	// Word says what the reference means, if whoever wrote the rule says so.
	Word string
	// Scope of the target's kind, if it is known beforehand.
	Scope graph.Scope
	// Namespace lists the fields that may hold the target's namespace. The
	// first that is set counts, the object's own namespace if none is.
	Namespace []string
	// If lists conditions that all hold where there is a reference, Unless such
	// of which none does. Each is a field that is set, or field:value, or
	// several of them with commas between, of which one suffices.
	If, Unless []string
	// Inferred: there is a reference only while the target exists.
	Inferred bool
	// Optional: nothing is wrong where the target does not exist. OptionalIf are
	// conditions, as If, of which one makes it so.
	Optional   bool
	OptionalIf []string
	// Except lists values that are no names.
	Except []string
	// As is the form of the value at Path, if it is more than a name:
	// patterns with | between them.
	As string
	// Named is the target's name as a template, in which {} is the value.
	Named string
	// EmptySelectsAll: an empty selector matches everything, not nothing.
	EmptySelectsAll bool
	// AllNamespaces: the selector is not confined to one namespace.
	AllNamespaces bool
	// Selected is a field that selects the namespaces by their labels: absent,
	// the object's own; empty, all; asking for names, those. Listed is one with any and matchNames.
	Selected, Listed string
}

// Method is how a value refers to objects.
type Method uint8

const (
	// Name means that the value is the target's name.
	Name Method = iota
	// Object means that the value's field name is the target's name.
	Object
	// Selector means that the value is a LabelSelector of Kubernetes.
	Selector
	// Labels means that the targets have all labels of the value, a map.
	Labels
	// Inventory means that the value is <namespace>_<name>_<group>_<kind>. To is
	// unused.
	Inventory
	// Application means that the value is kapp's record of an application, in
	// JSON: a label, and the kinds of the objects that have it, in all namespaces.
	// To is unused.
	Application
	// Address means that the value is the address of a Service, or several, as a caller
	// in the object's namespace writes it. The reference is inferred.
	Address
	// Names means that the value is names with commas between them, each in every way in
	// which it has one of the forms of As: web-a-b may be b in web-a, and a-b in web. The
	// references are inferred.
	Names
)

// infers tells whether there is a reference only while the target exists, whatever else
// a rule says: the value alone does not say what the target is.
func (m Method) infers() bool { return m == Address || m == Names }

// lists tells whether the value itself says which kinds it refers to.
func (m Method) lists() bool { return m == Inventory || m == Application }

func (m Method) selects() bool { return m == Selector || m == Labels }

// Target is the kind that a rule refers to, in two parts.
type Target struct {
	Group, Kind Part
}

// fixed tells whether the target is the same for every object.
func (t *Target) fixed() bool { return t.Group.Field == "" && t.Kind.Field == "" }

// Part is a group or a kind, fixed or read from a field of the reference.
type Part struct {
	// Value is the part or, if Field is set, what its absence means.
	Value string
	// Field that holds the part. A group's is cut at the slash if its last key
	// is apiVersion.
	Field string
	// Values, unless empty, lists the values of Field that refer to anything
	// and what each means (a resource's kind, or the value itself). A boolean
	// has the values true and false.
	Values map[string]string
}
