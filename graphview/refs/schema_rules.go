package refs

import (
	"slices"
	"strings"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs/schema"
)

// SchemaRules has the rules that follow from the schema of a kind, and the paths of fields
// that are not references although their keys look like one. Required are the paths of
// references by convention whose target has to exist.
type SchemaRules struct {
	Rules            []Rule
	Silent, Required []string
}

// SchemaRules finds the types of Kubernetes in a kind's schema. For a kind in the table it
// also finds fields that the table lacks and that are named after a kind of Kubernetes.
// For other kinds, conventions find such fields. The error is a *budget.Exceeded.
func (s *Served) SchemaRules(kind graph.Kind, of *schema.Schema) (SchemaRules, error) {
	if kubernetesGroups[kind.Group] || of == nil {
		return SchemaRules{}, nil
	}
	var table *node
	if own := Builtin().kinds.of(kind); own != nil {
		table = own.root
	}
	r := schemaReader{served: s, kind: kind, listed: table != nil, size: schema.Size.Meter(), read: map[string]bool{}}
	for _, p := range of.Properties {
		switch p.Key {
		case "apiVersion", "kind", "metadata":
		default:
			if p.Key == "status" && r.listed {
				continue // the table lists the fields of the status that matter
			}
			if below, ok := (schemaField{table: table}).below(&p); ok {
				r.visit(below, p.Schema)
			}
		}
	}
	if err := r.size.Err(); err != nil {
		return SchemaRules{}, err
	}
	return r.found, nil
}

// schemaReader walks the schema of a kind.
type schemaReader struct {
	served *Served
	kind   graph.Kind
	// listed means that the table has rules for the kind, so that conventions do not apply.
	listed bool
	size   *budget.Meter   // fields that are visited, and schema.RuleSize for each rule
	read   map[string]bool // paths that have a rule, or are silent
	found  SchemaRules
}

// schemaField is a field of a schema, an element of a list or a value of a map.
type schemaField struct {
	key, path string
	table     *node // the table's rules of the field
	depth     int
	required  bool // the schema requires the field, or the list of the element
}

// below returns a field below, false if no path can hold its key.
func (p schemaField) below(of *schema.Property) (schemaField, bool) {
	key, text := of.Key, of.Key
	if strings.ContainsFunc(key, func(r rune) bool { return !isKeyRune(r) }) {
		text = "['" + key + "']"
	}
	return schemaField{key: key, path: join(p.path, text), table: p.table.member(key), depth: p.depth + 1, required: of.Required}, key != "" && !strings.Contains(key, "'") && isPathKey(key)
}

func (p schemaField) element() schemaField {
	return schemaField{key: strings.TrimSuffix(p.key, "s"), path: p.path + "[]", table: p.table.element(), depth: p.depth + 1, required: p.required}
}

func (p schemaField) value() schemaField {
	return schemaField{key: strings.TrimSuffix(p.key, "s"), path: p.path + "{}", table: p.table.value(), depth: p.depth + 1}
}

func (r *schemaReader) visit(p schemaField, s *schema.Schema) {
	if s == nil || p.depth > maxGuessDepth || len(p.path) > maxPath || r.size.Take(1) != nil {
		return
	}
	switch {
	case s.Embedded || isOpaque[p.key] || isOfKubelet[p.key]:
	case s.Type == "string":
		r.visitText(p, s)
	case s.Items != nil:
		r.visit(p.element(), s.Items)
	case s.Values != nil:
		if s.Values.Type != "string" {
			r.visit(p.value(), s.Values)
		}
	case p.depth > 0 && s.IsObjectMeta(), s.IsResourceRequirements(), s.IsLabelSelector():
	default:
		r.visitObject(p, s)
	}
}

// isOfKubelet has the fields of a pod that say how it runs and refer to no objects.
var isOfKubelet = set("affinity", "dnsConfig", "grpc", "hostAliases", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe", "tolerations",
	"topologySpreadConstraints", "volumeDevices")

func (r *schemaReader) visitObject(p schemaField, s *schema.Schema) {
	for _, shape := range s.Shapes() {
		r.addTemplate(p, s, string(shape))
	}
	if name := s.Property("name"); p.depth > 0 && name != nil && name.Type == "string" {
		r.addNamed(p, s)
	}
	isPod := s.IsPodSpec()
	for _, property := range s.Properties {
		if isPod && (property.Key == "nodeName" || property.Key == "hostname") {
			continue
		}
		if below, ok := p.below(&property); ok {
			r.visit(below, property.Schema)
		}
	}
}

func (r *schemaReader) visitText(p schemaField, s *schema.Schema) {
	if r.read[p.path] || (nodes{p.table}).source() == ByTable || isNoName(p.key) {
		return
	}
	targets := r.served.meaning(r.kind.Group, p.key).targets
	if target, ok := namedBy(p.key); ok {
		targets = []graph.Reference{target}
	}
	if s.Closed {
		if len(targets) > 0 {
			r.addSilent(p.path)
		}
		return
	}
	r.require(p, p.required && len(targets) > 0)
	r.addIfListed(p.path, targets, "")
	// For kinds that are not in the table, conventions find addresses.
	if r.listed && isAddressKey(p.key) && !strings.Contains(strings.ToLower(p.key), "host") && !r.read[p.path] {
		r.read[p.path] = true
		r.addRule(Rule{Path: p.path, Method: Address, To: fixed(kinds["Service"].To), Scope: graph.ScopeNamespaced, Type: graph.Transitive})
	}
}

// addNamed adds the rules for a field with an object that has a name.
func (r *schemaReader) addNamed(p schemaField, s *schema.Schema) {
	path := p.path + ".name"
	required := p.required || s.Requires("name") || s.IsKeySelector()
	// A reference with a kind or an apiVersion names the kind of its target in each object.
	if r.read[path] || (nodes{p.table}).source() == ByTable || s.Has("kind") || s.Has("apiVersion") || s.Has("resourceClaimName") {
		r.require(p, required && s.Has("kind") && !r.read[path])
		return
	}
	namespace := ""
	if s.Has("namespace") {
		namespace = "namespace"
	}
	target, declared := targetByKey(p.key, r.kind.Group)
	if declared && target.Scope == graph.ScopeUnknown && !r.served.Serves(target.To) {
		declared = false
	}
	targets := r.served.meaning(r.kind.Group, p.key).targets
	if declared {
		targets = []graph.Reference{target}
	}
	r.require(p, required && len(targets) > 0)
	// Crossplane's selector of a Secret has the description of a ConfigMap's, and a namespace.
	kind, ok := s.KeySelector()
	if kind == "ConfigMap" && (s.Has("namespace") || isSecretive(p.key)) {
		kind = ""
	}
	switch {
	case !ok, kind == "" && declared:
		r.addIfListed(path, targets, namespace)
	case kind == "":
		if isSecretive(p.key) {
			r.addTargets(path, []graph.Reference{kinds["Secret"]}, namespace, required, r.listed)
			return
		}
		either := []graph.Reference{kinds["Secret"], kinds["ConfigMap"]}
		if len(targets) == 1 && slices.ContainsFunc(either, func(one graph.Reference) bool { return one.To == targets[0].To }) {
			either = targets
		}
		r.addTargets(path, either, namespace, required, true)
	case r.listed || !declared || target.To != kinds[kind].To:
		r.addTargets(path, []graph.Reference{kinds[kind]}, namespace, required, r.listed)
	}
}

// isSecretive reports whether a key has a word for something secret.
func isSecretive(key string) bool {
	return slices.ContainsFunc(wordsOf(key), func(word string) bool {
		return isSecretiveWord[word] || isSecretiveWord[strings.TrimSuffix(word, "s")]
	})
}

var isSecretiveWord = set("auth", "cert", "certificate", "credential", "license", "password", "secret", "tls", "token")

// require records that the target of a reference by convention has to exist: the schema requires the
// name, and the key does not name an object that the controller creates.
func (r *schemaReader) require(p schemaField, required bool) {
	if required && !r.listed && !strings.HasPrefix(p.path, "status.") && !isProduct(p.key) && r.size.Take(schema.RuleSize) == nil {
		r.found.Required = append(r.found.Required, p.path)
	}
}

// isProduct reports whether a key names a Secret or ConfigMap that the controller creates:
// writeConnectionSecretToRef, targetSecretName.
func isProduct(key string) bool {
	words := wordsOf(key)
	return len(words) > 0 && slices.Contains([]string{"write", "output", "generated", "target", "destination"}, words[0]) &&
		(slices.Contains(words, "secret") || slices.Contains(words, "map"))
}

// addIfListed adds the targets of a key for a kind that the table lists, if the key names
// a kind of Kubernetes: the table is complete for the project's own kinds. Conventions
// find the targets of other kinds.
func (r *schemaReader) addIfListed(path string, targets []graph.Reference, namespace string) {
	if r.listed && len(targets) == 1 && kubernetesGroups[targets[0].To.Group] {
		r.addTargets(path, targets, namespace, false, true)
	}
}

// addTargets adds a rule for each kind that a field may name.
func (r *schemaReader) addTargets(path string, targets []graph.Reference, namespace string, required, inferred bool) {
	r.read[path] = true
	for _, target := range targets {
		rule := Rule{
			Path: path, To: fixed(target.To), Scope: target.Scope, Type: target.Type, Optional: !required, OptionalIf: []string{"optional:true"},
			Inferred: inferred || strings.HasPrefix(path, "status."), // a status may be outdated
		}
		if namespace != "" && target.Scope != graph.ScopeCluster {
			rule.Namespace = []string{namespace}
		}
		r.addRule(rule)
	}
}

func (r *schemaReader) addSilent(path string) {
	if !r.listed && r.size.Take(schema.RuleSize) == nil {
		r.read[path] = true
		r.found.Silent = append(r.found.Silent, path)
	}
}

func (r *schemaReader) addRule(rule Rule) {
	if r.size.Take(schema.RuleSize) == nil {
		rule.From = r.kind
		r.found.Rules = append(r.found.Rules, rule)
	}
}

func fixed(kind graph.Kind) Target {
	return Target{Group: Part{Value: kind.Group}, Kind: Part{Value: kind.Kind}}
}
