package refs

import "graphview.dev/graphview/graph"

// AnyKind as the From of a rule means every kind.
var AnyKind = graph.Kind{Group: "*", Kind: "*"}

// Rule declares that a field of a kind refers to other objects. The package documentation
// describes paths and companion fields.
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
	// Word describes the reference, for example "mounts"; empty if the rule has none.
	Word string
	// Scope of the target's kind, if the rule fixes it.
	Scope graph.Scope
	// Namespace lists the fields that may hold the target's namespace. The first set field
	// is used, or the object's own namespace if none is set.
	Namespace []string
	// There is a reference if all conditions of If hold and none of Unless. A condition is
	// a list of alternatives with commas between, each a field that is set or field:value.
	If, Unless []string
	// Inferred: the reference exists only while its target exists.
	Inferred bool
	// Optional: a missing target is not a problem. OptionalIf are conditions in the form of
	// If; the reference is also optional if one of them holds.
	Optional   bool
	OptionalIf []string
	// Required: a missing target is a problem, although a label or a list of names names it.
	Required bool
	// Except lists values that are not references.
	Except []string
	// As is the form of a value that is more than a name: patterns with | between them.
	As string
	// Named is the target's name as a template, in which {} is the value.
	Named string
	// Mark is the key of a mark. The targets are the objects whose mark has the name as its value. If
	// Mark is empty, the target is the object of that name. See [Mark].
	Mark string
	// Hosts is a field with a name for the value of an Address. If it is one for hosts, such as DB_HOST, the
	// value may be the name of a Service alone.
	Hosts string
	// Remote says how to find the cluster of the targets; empty for this cluster. See [Remotes].
	Remote string
	// EmptySelectsAll: an empty selector matches everything, not nothing.
	EmptySelectsAll bool
	// AllNamespaces: the selector is not confined to one namespace.
	AllNamespaces bool
	// OfProject: a cluster-scoped object refers to the target in the namespace of its controller.
	OfProject bool
	// Selected is a field with a label selector of namespaces: absent means the object's
	// own, empty means all. Listed is a field with any and matchNames.
	Selected, Listed string
}

// Method says how a value refers to objects.
type Method uint8

const (
	// Name means that the value is the target's name.
	Name Method = iota
	// Object means that the field "name" of the value is the target's name.
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
	// Address means that the value has one or more addresses of Services, as a client in the object's
	// namespace writes them. The reference is inferred.
	Address
	// Names means that the value is names with commas between them. Each is read in every
	// way that the forms of As allow: web-a-b may be b in web-a, and a-b in web. A list in JSON
	// holds names, or objects with a name and a namespace. The references are inferred, unless the
	// rule is Required.
	Names
)

// infers reports whether references of the method are always inferred, because the value
// alone does not determine the target.
func (m Method) infers() bool { return m == Address || m == Names }

// lists reports whether the value itself contains the kinds that it refers to.
func (m Method) lists() bool { return m == Inventory || m == Application }

func (m Method) selects() bool { return m == Selector || m == Labels }

// Target is the kind that a rule refers to, in two parts.
type Target struct {
	Group, Kind Part
}

// fixed reports whether the target is the same for every object.
func (t *Target) fixed() bool { return t.Group.Field == "" && t.Kind.Field == "" }

// Part is a group or a kind, fixed or read from a field of the reference.
type Part struct {
	// Value is the part or, if Field is set, the default for an absent field.
	Value string
	// Field holds the part. For a group, a field named apiVersion is cut at the slash.
	Field string
	// Values, unless empty, maps the values of Field that are references to the part that
	// they mean: the kind of a resource, or the value itself. A boolean has the values
	// true and false.
	Values map[string]string
}
