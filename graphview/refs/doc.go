// Package refs finds the references of one object: its owner references, the fields
// that a table of rules lists for its kind and, for kinds without rules, the fields
// that look like references by the API conventions of Kubernetes. It is pure.
//
// It does not know clients or discovery, or whether a target exists. It names targets by group and kind.
// If only discovery could say whether a kind is namespaced, the scope of the reference is
// graph.ScopeUnknown, and its namespace counts only if the kind is namespaced.
//
// An [Extractor] is immutable and safe for concurrent use. Objects are untrusted: a
// value that does not have the shape that its rule expects gives no reference, and
// does not panic. A selector that does not parse selects nothing. [MaxReferences]
// bounds the references of one object.
//
// Other packages handle references that need more than one object (the parameters of an admission
// policy), the contents of Secrets (releases of Helm), and namespaces that a reference selects by label.
//
// # How it works
//
// The rules of a kind are merged into a tree of path steps, so that a shared prefix
// is walked once per object. The walk follows the tree, not the object, so the table
// alone determines its depth and order.
//
// # The table
//
// The built-in rules are the files table/*.refs, by project. Their comments say
// which fields are left out and why. A heading starts in the first column, its rows
// are indented, and # starts a comment:
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
// rows of a template, from any file, below its path. The kind */* means every
// kind. A heading applies to every version of its kinds.
//
// A path is written as keys separated by dots, [] for the elements
// of a list, {} for the values of a map, ['…'] for a key with other characters
// (metadata.labels['example.com/owner']). It is also the reference's Field.
//
// A target is group/Kind; the core group is written core. Either part may be read
// from a field of the reference:
//
//	{apiVersion}/{kind}          both from fields; a group field whose name is
//	                             apiVersion is cut at its slash
//	{group=core}/{kind=Service}  with defaults for absent fields
//	core/{kind:ConfigMap,Secret} these kinds only
//	{group}/{resource:services=Service}
//	                             these values only, mapped to these kinds
//	{everywhere=A:true=B,false=A}  both; a boolean is true or false
//
// Words:
//
//	t          a transitive reference (default: r, a direct one); after include,
//	           all included rows are
//	object     the path holds an object with the field name (default: the name)
//	selector   the path holds matchLabels and matchExpressions
//	labels     the path holds a map of labels to select by
//	inventory  the path holds <namespace>_<name>_<group>_<kind>, the target is */*
//	application
//	           the path holds kapp's record of an application, the target is */*
//	address    the path holds the address of a Service, relative to the object's
//	           namespace: name:port, name.namespace, a URL. The reference is inferred:
//	           it exists only while the Service exists
//	names      the path holds names with commas between them, or a list in JSON. Each is read
//	           in every way that the forms of as allow. The references are inferred, unless required
//	empty=all  an empty selector matches everything (default: nothing)
//	everywhere the selector matches in all namespaces
//	selected-ns=a  the selector matches in the namespaces that the label selector a
//	           selects: the object's own if a is absent, all if it is empty
//	listed-ns=a  the selector matches in the namespaces of a: {any, matchNames}
//	cluster    targets are cluster-scoped
//	namespaced targets are namespaced (default for a fixed kind; otherwise the kind
//	           decides)
//	ns=a,b     the first of these fields that is set is the target's namespace
//	           (default, and if none is set: the object's own)
//	if=a       a reference only if this field is set; if=a:x, if it is x or a list
//	           with x; if=a:x,b:y, if one of these holds; repeated: if all hold
//	unless=a   no reference if this condition, in the forms of if, holds
//	inferred   a reference only while the target exists
//	optional   a missing target is not a problem (default for fields of a status, for
//	           labels and for the object's own name); optional=a, if this condition,
//	           in the forms of if, holds
//	required   a missing target is a problem, although a label or names name it
//	except=x,y no reference by these names
//	as=p|q     the value is read by the first of these forms that matches, such as
//	           {ns}/{name} or {label}.{ns}.svc.{*}: {name} is the target's name,
//	           {label} one without dots, {ns} its namespace, {*} anything
//	mark=a     the targets are the objects of the kind with the mark a (numbered, tracked, named)
//	           that has the name as its value; see Mark
//	named=x    the target's name: {} is the value, {a} a field
//	remote=x:a,b  the target is in another cluster, which the first of these fields that is
//	           set names, in the scheme x. remote=x/a,b puts the object's namespace before
//	           the name. The target */* is the cluster itself. See Remotes
//
// Fields are relative to the object that holds the last key of the path or, with the
// word object, to the object that the path leads to. With a leading dot they start at
// the root and may enter the same lists as the path, at the same elements:
// .spec.gadgets[].namespace. In a template, the root is the place that includes it.
//
// To add a row, write it below its kind, add an object with the field and the
// expected line to a scenario in testdata, and run the tests. They check that paths
// and scopes of Kubernetes' own kinds exist in its Go types, and that a scenario
// covers each new row. The command hack/refscoverage counts the rows, and compares
// those of Kubernetes with the schemas of a server.
//
// # Declared rules
//
// [Extended] adds the rules of ReferenceRules. They apply in addition to conventions or in their place.
//
// # Schemas
//
// [Served.Read] compiles the schema of a kind once. If it finds a type of Kubernetes in the schema, it
// adds the rules of the table's template for that type. Conventions do not apply to the fields of these
// rules.
//
// # Conventions
//
// In a kind without rules, outside Kubernetes' groups, a key is read as a reference if the API
// conventions give such a name to references, or if it names a kind that the cluster serves. The note
// docs/design/0015-keys-that-name-kinds.md lists these keys, in their order. The graph drops guesses whose kind is not served.
// TestConventionsMeasured compares the conventions with the table.
package refs
