package refs

import (
	"slices"
	"strings"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

// teller walks the schema of a kind.
type teller struct {
	served *Served
	kind   graph.Kind
	// listed: the table has rules of the kind, and conventions say nothing of it.
	listed bool
	// values and rules are what may still be looked at, and told.
	values, rules *budget.Meter
	told          map[string]bool // by path
	result        Told
}

// place is where in an object a schema is of.
type place struct {
	key, path string
	// about is the description of the list that an element is of.
	about string
	table *node // what the table knows of the place
	depth int
}

// below is the place of a field, false if no path leads there.
func (p place) below(key string) (place, bool) {
	text := key
	if strings.ContainsFunc(key, func(r rune) bool { return !isKeyRune(r) }) {
		text = "['" + key + "']"
	}
	return place{key: key, path: join(p.path, text), table: p.table.member(key), depth: p.depth + 1}, key != "" && !strings.Contains(key, "'") && isPathKey(key)
}

func (p place) element(about string) place {
	return place{key: strings.TrimSuffix(p.key, "s"), path: p.path + "[]", about: about, table: p.table.element(), depth: p.depth + 1}
}

func (p place) value(about string) place {
	return place{path: p.path + "{}", about: about, table: p.table.value(), depth: p.depth + 1}
}

// describe returns what is said about a value at the place.
func (p place) describe(s *Schema) string {
	if s.Description != "" {
		return s.Description
	}
	return p.about
}

func (t *teller) visit(p place, s *Schema) {
	if s == nil || p.depth > maxGuessDepth || len(p.path) > maxPath || t.rules.Err() != nil || t.values.Take(1) != nil {
		return
	}
	switch {
	case s.Embedded || isOpaque(p.key) || isOfKubelet[p.key]:
	case s.Type == "string":
		t.text(p, s)
	case s.Items != nil:
		t.visit(p.element(s.Description), s.Items)
	case s.Values != nil:
		if s.Values.Type != "string" {
			t.visit(p.value(s.Description), s.Values)
		}
	case p.depth > 0 && isMetadata(s), s.has("limits", "requests"): // of a template, of a container
	case len(s.Properties) > 0:
		t.object(p, s)
	}
}

func (t *teller) object(p place, s *Schema) {
	if s.has("matchLabels", "matchExpressions") {
		t.selector(p, s)
		return
	}
	for _, name := range templatesOf(s) {
		t.mount(p, s, name)
	}
	name := s.property("name")
	isReference := p.depth > 0 && name != nil && name.Type == "string" && t.named(p, s, name)
	isPod := isPodSpec(s)
	for _, property := range s.Properties {
		if isReference && property.Key == "name" || isPod && (property.Key == "nodeName" || property.Key == "hostname") {
			continue
		}
		if below, ok := p.below(property.Key); ok {
			t.visit(below, property.Schema)
		}
	}
}

// isOfKubelet are the fields of a pod that say how it is run, and name nothing.
var isOfKubelet = map[string]bool{
	"affinity": true, "dnsConfig": true, "grpc": true, "hostAliases": true, "lifecycle": true, "livenessProbe": true, "readinessProbe": true,
	"startupProbe": true, "tolerations": true, "topologySpreadConstraints": true, "volumeDevices": true,
}

// text tells what a text names.
func (t *teller) text(p place, s *Schema) {
	if t.told[p.path] || p.table.tells() || saysOther(p.key) {
		return
	}
	byKey := t.served.meaning(t.kind.Group, p.key)
	known, declared := namedBy(p.key)
	if declared {
		byKey = []graph.Reference{known}
	}
	if s.Closed {
		if len(byKey) > 0 {
			t.silence(p.path)
		}
		return
	}
	about := p.describe(s)
	said, doubtful := t.served.spoken(t.kind.Group, about), isDoubtfulText(about)
	if p.path == ownName {
		said = t.others(said)
	}
	switch {
	case isAlias(about):
		if len(byKey)+len(said) > 0 {
			t.silence(p.path)
		}
	case len(said) == 0 && !(declared && doubtful):
		t.unlessListed(p.path, byKey, "")
		t.address(p)
	case declared && !doubtful && agree(said, byKey):
		t.unlessListed(p.path, byKey, "")
	case !declared && !doubtful && t.isSure(said, byKey, about):
		t.tell(p.path, said, "", t.listed)
	default:
		t.tell(p.path, union(said, byKey), "", true)
	}
}

// isSure tells whether there is a reference though there may be no such object: where
// key and description agree on one kind of Kubernetes, or the description spells a kind
// of the own group as only the kind is spelled.
func (t *teller) isSure(said, byKey []graph.Reference, about string) bool {
	if len(said) != 1 || isMade(about) {
		return false
	}
	kind := said[0].To
	if kind.Group == t.kind.Group {
		return len(wordsOf(kind.Kind)) > 1 && strings.Contains(about, kind.Kind)
	}
	return isPlain[kind] && agree(said, byKey)
}

// isPlain are the kinds of Kubernetes that others refer to by name.
var isPlain = map[graph.Kind]bool{
	{Kind: "ConfigMap"}: true, {Kind: "PersistentVolumeClaim"}: true, {Kind: "Secret"}: true, {Kind: "Service"}: true, {Kind: "ServiceAccount"}: true,
	{Group: "networking.k8s.io", Kind: "IngressClass"}: true, {Group: "scheduling.k8s.io", Kind: "PriorityClass"}: true, {Group: "storage.k8s.io", Kind: "StorageClass"}: true,
}

// named tells what an object with a name refers to, and whether that is all there is
// to the name.
func (t *teller) named(p place, s, name *Schema) bool {
	path := p.path + ".name"
	switch {
	case t.told[path] || p.table.tells():
		return true
	case s.has("kind") || s.has("apiVersion") || s.has("resourceClaimName"): // the object says what it names
		return true
	}
	namespace := ""
	if s.has("namespace") {
		namespace = "namespace"
	}
	about := p.describe(s)
	said := t.served.spoken(t.kind.Group, about)
	if len(said) == 0 {
		about = name.Description
		said = t.served.spoken(t.kind.Group, about)
	}
	if path == ownName {
		said = t.others(said)
	}
	known, declared := targetByKey(p.key, t.kind.Group)
	if declared && known.Scope == graph.ScopeUnknown && !t.served.Serves(known.To) {
		declared = false
	}
	byKey := t.served.meaning(t.kind.Group, p.key)
	if declared {
		byKey = []graph.Reference{known}
	}
	if t.isOwn(p, s, said) || isAlias(name.Description) && len(said)+len(byKey) > 0 {
		t.silence(path)
		return true
	}
	if scoped := t.scoped(s, union(said, byKey)); scoped != nil {
		t.tellScoped(path, scoped, namespace, !declared)
		return true
	}
	if of, ok := keySelector(s); ok {
		switch {
		case of.To.Kind == "": // of a Secret or of something else
			if !declared {
				either := []graph.Reference{kinds["Secret"], kinds["ConfigMap"]}
				if len(byKey) == 1 && agree(byKey, either) {
					either = byKey
				}
				t.tell(path, union(said, either), namespace, true)
				return true
			}
		case len(said) > 0 && !agree(said, []graph.Reference{of}):
			t.tell(path, union(said, []graph.Reference{of}), namespace, true)
			return true
		default:
			if t.listed || !declared || known.To != of.To {
				t.tell(path, []graph.Reference{of}, namespace, t.listed)
			}
			return true
		}
	}
	identifier := isIdentifier(name.Description)
	doubtful := identifier || isDoubtfulText(about)
	switch {
	case !declared && len(said) == 0, declared && !identifier && (len(said) == 0 || agree(said, byKey)):
		t.unlessListed(path, byKey, namespace)
	// The name of an element may be its own, of what is made for it.
	case !doubtful && t.isSure(said, byKey, about) && (!strings.HasSuffix(p.path, "[]") || strings.Contains(about, "refer") && !isDefinition(s)):
		t.tell(path, said, namespace, t.listed)
	default:
		t.tell(path, union(said, byKey), namespace, true)
	}
	return len(said)+len(byKey) > 0
}

// keySelector tells core/v1's selectors of keys by their shape and words: of a Secret,
// of a ConfigMap or, with no kind, of one that the schema does not say.
func keySelector(s *Schema) (graph.Reference, bool) {
	key := s.property("key")
	if key == nil || key.Type != "string" {
		return graph.Reference{}, false
	}
	for _, p := range s.Properties {
		switch p.Key {
		case "name", "key", "namespace", "optional":
		default:
			return graph.Reference{}, false
		}
	}
	words := strings.ToLower(key.Description + " " + s.Description)
	secret, configMap := strings.Contains(words, "secret"), strings.Contains(words, "configmap") || strings.Contains(words, "config map")
	switch {
	case secret && !configMap:
		return kinds["Secret"], true
	case configMap && !secret, !secret && strings.TrimSpace(key.Description) == "The key to select.":
		return kinds["ConfigMap"], true
	}
	return graph.Reference{}, true
}

// selector tells what a label selector selects, if only the description says that.
func (t *teller) selector(p place, s *Schema) {
	if t.told[p.path] || p.table.tells() || t.listed {
		return
	}
	if of, ok := strings.CutSuffix(p.key, "Selector"); ok && len(t.served.meaning(t.kind.Group, strings.TrimSuffix(of, "Label"))) > 0 {
		return
	}
	t.told[p.path] = true
	for _, target := range t.served.selected(t.kind.Group, p.describe(s)) {
		t.add(Rule{Path: p.path, Method: Selector, To: fixed(target.To), Scope: target.Scope, AllNamespaces: false, Optional: true})
	}
}

// address tells that a text may be the address of a Service, of a kind that conventions
// say nothing of.
func (t *teller) address(p place) {
	if t.listed && isAddressKey(p.key) && !strings.Contains(strings.ToLower(p.key), "host") && !t.told[p.path] {
		t.told[p.path] = true
		t.add(Rule{Path: p.path, Method: Address, To: fixed(kinds["Service"].To), Scope: graph.ScopeNamespaced, Type: graph.Transitive})
	}
}

// unlessListed tells what a key says of a kind that the table lists, if it says a kind
// of Kubernetes: what a project's own kinds are to each other, the table knows. Of other
// kinds the conventions say the same.
func (t *teller) unlessListed(path string, targets []graph.Reference, namespace string) {
	if t.listed && len(targets) == 1 && settled[targets[0].To.Group] {
		t.tell(path, targets, namespace, true)
	}
}

// tell adds a rule for each kind that a field may be the name of.
func (t *teller) tell(path string, targets []graph.Reference, namespace string, inferred bool) {
	if namesakes(targets) > maxNamesakes {
		return
	}
	for _, target := range targets {
		t.add(t.rule(path, target, namespace, inferred))
	}
}

// rule is that a field holds the name of an object of a kind.
func (t *teller) rule(path string, target graph.Reference, namespace string, inferred bool) Rule {
	t.told[path] = true
	// What a status tells may be of yesterday.
	rule := Rule{
		Path: path, To: fixed(target.To), Scope: target.Scope, Type: target.Type, Inferred: inferred || strings.HasPrefix(path, "status."), Optional: true,
	}
	if namespace != "" && target.Scope != graph.ScopeCluster {
		rule.Namespace = []string{namespace}
	}
	return rule
}

func (t *teller) silence(path string) {
	if !t.listed && t.rules.Take(1) == nil {
		t.told[path] = true
		t.result.Silent = append(t.result.Silent, path)
	}
}

func (t *teller) add(rule Rule) {
	if t.rules.Take(1) == nil {
		rule.From = t.kind
		t.result.Rules = append(t.result.Rules, rule)
	}
}

func fixed(kind graph.Kind) Target {
	return Target{Group: Part{Value: kind.Group}, Kind: Part{Value: kind.Kind}}
}

// agree tells whether a kind is among both.
func agree(a, b []graph.Reference) bool {
	return slices.ContainsFunc(a, func(one graph.Reference) bool {
		return slices.ContainsFunc(b, func(other graph.Reference) bool { return one.To == other.To })
	})
}

func union(a, b []graph.Reference) []graph.Reference {
	all := slices.Clone(a)
	for _, one := range b {
		if !agree(a, []graph.Reference{one}) {
			all = append(all, one)
		}
	}
	return all
}
