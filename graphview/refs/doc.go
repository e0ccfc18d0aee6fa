// Package refs finds what one object refers to: its owner references and what
// a table of rules knows about its kind. It is pure: an object in, references
// out.
//
// It knows paths, names, namespaces and label selectors. It does not know
// clients, discovery or whether anything that is referred to exists, and of
// graphs only the vocabulary. It names targets by group and kind; where only
// discovery could tell whether a kind is namespaced, the reference's scope is
// graph.ScopeUnknown and its namespace the one it has if it is.
//
// An [Extractor] is immutable and safe for concurrent use. Objects are foreign
// bytes: whatever is not shaped as its rule expects gives no reference, never
// a panic and never a reference to more than was written (a selector that does
// not parse selects nothing). At most [MaxReferences] are found in one object.
//
// # How it works
//
// The rules of a kind are merged into a tree of path steps, so that a prefix
// which rules share is walked once per object. The walk follows the tree, not
// the object: its depth and its order are the table's, whatever the object
// holds.
//
// # The table
//
// The built-in rules are the files table/*.refs. A heading starts in the first
// column, its rows are indented, # starts a comment:
//
//	template container
//	  envFrom[].secretRef.name    core/Secret
//
//	kind core/Pod, example.com/PodLike
//	  spec.containers[]           include container
//	  spec.nodeName               core/Node                    cluster
//	  spec.pullSecrets[].name     core/Secret                  t
//
// A row is a path, a target, and words in any order. An include row mounts the
// rows of a template, from whatever file, below its path. The kind */* stands
// for every kind; a heading applies to every version of its kinds.
//
// A path has the catalogue's form: keys separated by dots, [] for the elements
// of a list, {} for the values of a map, ['…'] for a key with other characters
// (metadata.labels['example.com/owner']). It is also the reference's Field.
//
// A target is group/Kind; the core group is written core. A field of the
// reference may stand for either part:
//
//	{apiVersion}/{kind}          both from fields; a group field whose name is
//	                             apiVersion is cut at its slash
//	{group=core}/{kind=Service}  with defaults for absent fields
//	core/{kind:ConfigMap,Secret} these kinds only
//	{group}/{resource:services=Service}
//	                             these values only, which mean these kinds
//
// Words:
//
//	t          a transitive reference (default: r, a direct one)
//	object     the path holds an object with the field name (default: the name)
//	selector   the path holds matchLabels and matchExpressions
//	labels     the path holds a map of labels to select by
//	empty=all  an empty selector matches everything (default: nothing)
//	everywhere the selector matches in all namespaces
//	cluster    targets are cluster-scoped
//	namespaced targets are namespaced (default, where the kind is fixed;
//	           elsewhere the kind decides)
//	ns=a,b     the first of these fields that is set is the target's namespace
//	           (default, and where none is set: the object's own)
//	unless=a   no reference where this field is set
//
// Fields (in {}, ns=, unless=) are relative to the object that holds the last
// key of the path, with the word object to the object the path leads to. With
// a leading dot they start at the root, may enter the lists of the path, and
// then mean the same elements: .spec.gadgets[].namespace.
//
// To add a row: write it below its kind, add an object that has the field and
// the line it must give to a scenario in testdata, run the tests. They check
// that paths and scopes of Kubernetes' own kinds exist in its Go types.
package refs
