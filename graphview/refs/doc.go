// Package refs finds what one object refers to: its owner references, what a
// table of rules knows about its kind, and for kinds that no rule is about, what
// the conventions of Kubernetes' API tell. It is pure: an object in, references
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
// Not here: what takes more than one object (the parameters of an admission
// policy), the contents of Secrets (Helm's releases), and which namespaces have the
// labels that a reference selects them by.
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
// The built-in rules are the files table/*.refs, by project; their comments say
// what was left out and why. A heading starts in the first
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
// A path is written as keys separated by dots, [] for the elements
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
//	{everywhere=A:true=B,false=A}  both; a boolean is true or false
//
// Words:
//
//	t          a transitive reference (default: r, a direct one); after include,
//	           all that is included is
//	object     the path holds an object with the field name (default: the name)
//	selector   the path holds matchLabels and matchExpressions
//	labels     the path holds a map of labels to select by
//	inventory  the path holds <namespace>_<name>_<group>_<kind>, the target is */*
//	application
//	           the path holds kapp's record of an application, the target is */*
//	address    the path holds the address of a Service, as a caller in the object's
//	           namespace writes it: name:port, name.namespace, a URL. The reference
//	           is inferred: it is there only while the Service is
//	names      the path holds names with commas between them, each in every way in which
//	           it has one of the forms of as. The references are inferred
//	empty=all  an empty selector matches everything (default: nothing)
//	everywhere the selector matches in all namespaces
//	selected-ns=a  it matches in the namespaces that the label selector a selects:
//	           the object's own if a is absent, all if it is empty
//	listed-ns=a  it matches in the namespaces of a: {any, matchNames}
//	cluster    targets are cluster-scoped
//	namespaced targets are namespaced (default, where the kind is fixed;
//	           elsewhere the kind decides)
//	ns=a,b     the first of these fields that is set is the target's namespace
//	           (default, and where none is set: the object's own)
//	if=a       a reference only where this field is set; if=a:x, where it is x or
//	           a list with x; if=a:x,b:y, where one of these holds; repeated, all
//	unless=a   no reference where this, in the same forms, holds
//	inferred   a reference only while the target exists
//	optional   nothing is wrong where the target does not exist, as it is for what a
//	           status, a label or the object's own name tells; optional=a, where this,
//	           in the forms of if, holds
//	except=x,y no reference by these names
//	as=p|q     the path holds a text of the first of these forms that fits: {name},
//	           {label} (a name without dots), {ns} and {*} (anything) stand for
//	           their parts: {ns}/{name}, {label}.{ns}.svc.{*}
//	named=x    the target's name: {} is the value, {a} a field
//
// Fields are relative to the object that holds the last key of the path, with the
// word object to the object the path leads to. With
// a leading dot they start at the root, may enter the lists of the path, and
// then mean the same elements: .spec.gadgets[].namespace. In a template, the root is
// the place where it is included.
//
// To add a row: write it below its kind, add an object that has the field and
// the line it must give to a scenario in testdata, run the tests. They check
// that paths and scopes of Kubernetes' own kinds exist in its Go types, and that
// a scenario shows each new row. The command hack/refscoverage
// counts the rows, and holds those of Kubernetes against a server's own schemas.
//
// # Rules of one's own
//
// [Extended] adds rules to those of the table, for kinds that somebody else
// describes, beside conventions or in their place.
//
// # Schemas
//
// [Served.Read] reads the schema of a kind once. It recognises the types of Kubernetes,
// whose references the table's templates list, and makes rules such as the table's of
// them. Conventions do not apply to the fields of these rules.
//
// # Conventions
//
// A kind without rules of its own, outside Kubernetes' groups, is searched for the
// names that the API conventions give to references: secretRef, caSecretKeyRef,
// configMapRef, serviceAccountName, secretName, {apiVersion, kind, name},
// {group, kind, name}, {name, key} of a Secret, fooRef for a Foo of the kind's own
// group. That a guess's kind is served, the graph finds out. They are measured
// against the table: TestConventionsMeasured.
package refs
