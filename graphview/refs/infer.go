package refs

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"

	"graphview.dev/graphview/graph"
)

// inferText adds inferred references to the objects that a text may name, by its key.
func (g *conventionReader) inferText(key, text string) {
	namespace, name, both := strings.Cut(text, "/")
	if !both {
		namespace, name = "", text
	}
	if !isPlausible(name) || both && !isNamespace(namespace) {
		return
	}
	means := g.means(key, true)
	if means.other {
		means.hints = nil
	}
	if base, ok := g.served.baseOf(g.kind, key); ok && (len(means.targets) == 0 || means.targets[0].To.Group != g.kind.Group) {
		means.targets, means.sure = append(slices.Clip(means.targets), base), false
	}
	if len(means.targets) > 0 && (!means.kind || means.targets[0].To != g.kind) || means.hints != nil {
		g.addMeaning(means, name, cmp.Or(namespace, g.namespaceBeside(key)), nil)
	}
}

// isWhole has words for the system of a backup, a restore or a user.
var isWhole = set("cluster", "deployment", "instance")

// baseOf returns the kind that the name of a kind begins with, if a key asks for the whole: the clusterName of a
// PerconaServerMySQLRestore is of a PerconaServerMySQL.
func (s *Served) baseOf(kind graph.Kind, key string) (graph.Reference, bool) {
	if s == nil || s.groups[kind.Group] == nil || len(key) > 2*maxLabel || !isWhole[strings.Join(stem(wordsOf(key)), "")] {
		return graph.Reference{}, false
	}
	words := wordsOf(kind.Kind)
	for i := len(words) - 1; i > 0; i-- {
		if found := s.references(s.groups[kind.Group].exact[strings.Join(words[:i], "")]); len(found) == 1 {
			return found[0], true
		}
	}
	return graph.Reference{}, false
}

// addMeaning adds references to the targets and hints of a key.
func (g *conventionReader) addMeaning(means meaning, name, namespace string, object map[string]any) {
	for _, targets := range [...][]graph.Reference{means.targets, means.hints} {
		for _, target := range targets {
			target = g.scopeOf(target, object)
			target.Inferred = !means.sure
			g.add(target, name, namespace)
		}
	}
}

// inferObject adds references to the kinds that an object with a name may refer to by its key, its kind
// or its parent's key. It reports whether there are any.
func (g *conventionReader) inferObject(key string, object map[string]any) bool {
	name, _ := object["name"].(string)
	namespace, _ := object["namespace"].(string)
	if !isObjectName(name) || !isNamespace(namespace) || namesGroup(object) || g.isPart(key, object) {
		return false
	}
	kind, _ := object["kind"].(string)
	means := g.means(cmp.Or(kind, key), false)
	if own := (graph.Kind{Group: g.kind.Group, Kind: kind}); g.served.Serves(own) {
		means = meaning{targets: []graph.Reference{{To: own, Scope: g.served.scopes[own]}}, sure: true}
	} else if len(means.targets) == 1 && means.targets[0].To.Kind == kind && endsIn(key, "ref", "reference") && DomainOf(means.targets[0].To.Group) == DomainOf(g.kind.Group) {
		means.sure = true
	}
	if isElement := g.path[len(g.path)-1] == ""; isElement && kind == "" {
		// Most lists hold parts of the object itself.
		means.sure = means.sure && endsIn(key, "ref", "reference")
	} else if kind == "" && len(means.targets) == 1 && !strings.HasPrefix(key, "external") {
		// A bare name is certain, and so is a name that the schema requires below the name of a kind.
		isKind := means.kind && strings.EqualFold(key, means.targets[0].To.Kind)
		means.sure = means.sure || isNameOf(means.targets[0], object) || isKind && g.fieldRules.require()
	}
	if kind != "" || means.sure || !endsIn(key, "ref", "reference") && !isNameOf(graph.Reference{}, object) {
		means.hints = nil
	}
	g.addMeaning(means, name, namespace, object)
	return len(means.targets)+len(means.hints) > 0
}

// inferNamespace adds a reference to a namespace that a list of namespaces names.
func (g *conventionReader) inferNamespace(key, text string) {
	words := wordsOf(key[:min(len(key), 2*maxLabel)])
	if g.path[len(g.path)-1] != "" || len(words) == 0 || words[len(words)-1] != "namespace" || isLeftOut[words[0]] || !isObjectName(text) {
		return
	}
	target := kinds["Namespace"]
	target.Type, target.Inferred = graph.Transitive, true
	g.add(target, text, "")
}

// isLeftOut has the first words of keys whose values are not used.
var isLeftOut = set("deny", "denied", "exclude", "excluded", "ignore", "ignored", "skip")

// isNameOf reports whether an object has only fields that name another one: its name and namespace and,
// for a Service, the port.
func isNameOf(target graph.Reference, object map[string]any) bool {
	for key := range object {
		if key != "name" && key != "namespace" && key != "kind" && (key != "port" || target.To != kinds["Service"].To) {
			return false
		}
	}
	return true
}

// isPart reports whether a value describes a part of its own object, and is not a reference: a list
// element with a version or replicas, or one of a list such as externalClusters[].
func (g *conventionReader) isPart(key string, object map[string]any) bool {
	return g.path[len(g.path)-1] == "" && (object["version"] != nil || object["replicas"] != nil || strings.HasPrefix(key, "external"))
}

// isOfPods has words before Selector that mean pods without saying so.
var isOfPods = set("endpoint", "workload")

// inferSelector adds a reference to the objects that a label selector selects. Their kind follows from
// the key: podSelector, serviceSelector, or the name of a kind of the object's group. The selector of a
// spec selects pods, as in Kubernetes' own kinds.
func (g *conventionReader) inferSelector(key string, value map[string]any) bool {
	of, ok := strings.CutSuffix(key, "Selector")
	wide := ok && isOfPods[of] // also of a policy for the whole cluster
	peers := (strings.HasPrefix(key, "from") || strings.HasPrefix(key, "to")) && endsIn(key, "endpoint") && (value["matchLabels"] != nil || value["matchExpressions"] != nil)
	ofPods := wide || peers || key == "selector" && len(g.path) == len("of")
	if !ok && !ofPods {
		return false
	}
	selector := labelSelector(value)
	if selector == nil || len(selector.Requirements) == 0 {
		return false
	}
	targets := g.served.meaning(g.kind.Group, strings.TrimSuffix(of, "Label")).targets
	if ofPods {
		targets = []graph.Reference{kinds["Pod"]}
	}
	for _, target := range targets {
		target.Type, target.Selector, target.Optional = graph.Direct, selector, true
		if target.Scope != graph.ScopeCluster {
			target.Namespace = g.namespace
		}
		if target.AllNamespaces = target.Scope == graph.ScopeNamespaced && target.Namespace == ""; target.AllNamespaces && !wide && !peers {
			continue
		}
		if peers {
			target.Type = graph.Transitive
		}
		if target.Field, ok = g.field(); !ok {
			return false
		}
		if ofPods {
			target.Inferred, target.Field = true, graph.InferredField+target.Field
		}
		g.found = append(g.found, target)
	}
	return true
}

// called is a reference to the Service at an address.
var called = graph.Reference{To: kinds["Service"].To, Scope: graph.ScopeNamespaced, Type: graph.Transitive}

// inferAddress adds references to the Services that the addresses in a text may name. If the key is not
// one for addresses, they need a namespace or have to be certain. The hosts of noProxy do not count: the
// object need not call them.
func (g *conventionReader) inferAddress(key, text string) {
	target := called
	if !isDotted(text) {
		if target.Inferred = true; g.path[len(g.path)-1] != "" && isHostKey(key) && isObjectName(text) {
			g.add(target, text, "")
		}
		return
	}
	isKey := isAddressKey(key)
	if endsIn(key, "noproxy") || !isKey && !strings.Contains(text, ".svc") && !strings.Contains(text, "://") && (!hasPort(text) || endsIn(key, "image", "tag", "version")) {
		return
	}
	for a := range addresses(text) {
		target.Inferred = !a.certain && a.namespace != g.namespace || !isKey && a.namespace == ""
		if isKey || a.namespace != "" || a.certain {
			g.add(target, a.service, a.namespace)
		}
	}
}

// hasPort reports whether a text ends in a port, and not in the version of an image.
func hasPort(text string) bool {
	port := text[strings.LastIndexByte(text, ':')+1:]
	return len(port) < len(text) && isPort(port) && (len(port) > 2 || port == "80")
}

// isAddressKey reports whether a key holds addresses, by its last word.
func isAddressKey(key string) bool {
	if single, ok := strings.CutSuffix(key, "s"); ok && !strings.HasSuffix(single, "s") {
		key = single
	}
	if strings.HasSuffix(key, "sse") {
		key = key[:len(key)-1] // addresses, and addresse for an element of that list
	}
	return isHostKey(key) || endsIn(key, "url", "uri", "hostname") || key == "arg" || key == "command"
}

// isHostKey reports whether the value of a key may be the name of a Service alone.
func isHostKey(key string) bool {
	return endsIn(strings.TrimSuffix(key, "-name"), "host", "address", "addr", "endpoint", "server")
}

func endsIn(key string, ends ...string) bool {
	for _, end := range ends {
		if from := len(key) - len(end); from >= 0 && key[from]|' ' == end[0] && strings.EqualFold(key[from:], end) {
			return true
		}
	}
	return false
}

// isObjectName reports whether a text can be the name of an object: a DNS subdomain.
func isObjectName(name string) bool { return name != "" && isDomain(name) }

// Inference returns a hash of references, whatever their order and without owner references; 0 for none.
// Callers compare hashes to see whether other served kinds change the references.
func Inference(references []graph.Reference) uint64 {
	var sum uint64
	for i := range references {
		r := &references[i]
		if r.Type == graph.OwnerReference {
			continue
		}
		h := fnv.New64a()
		for _, text := range [...]string{r.To.Group, r.To.Kind, r.Namespace, r.Name, r.Field} {
			_, _ = h.Write([]byte(text)) // never fails
			_, _ = h.Write([]byte{0, byte(r.Scope)})
		}
		sum += h.Sum64()
	}
	return sum
}
