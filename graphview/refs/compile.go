package refs

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

// Extractor finds references by a compiled set of rules. The zero value finds only
// owner references and references by convention.
type Extractor struct {
	kinds rulesByKind
	// commonRules is the tree of the rules for every kind. Kinds without rules of their own use it. commonShape is
	// its shape, for such kinds that conventions do not apply to.
	commonRules node
	commonShape *jsontree.Shape
	// served maps the words in keys to kinds, for conventions; nil for none.
	served *Served
	// read has the compiled rules of schemas.
	read map[graph.Kind]*Reading
	// declared has the kinds with declared rules, and conventional those of them that conventions still
	// apply to. joinedShapes has the shapes of declared kinds that also have rules from a schema.
	declared, conventional map[graph.Kind]bool
	joinedShapes           map[graph.Kind]*jsontree.Shape
}

// node holds the rules of a kind for one value and the values below it.
type node struct {
	// silent: conventions do not apply to the value. required: the target of a reference by
	// convention has to exist.
	silent, required bool

	ends     []leaf
	fields   []member // in the order of the rules
	elements *node
	values   *node
}

// member is stored by value so that the keys of a node are adjacent in memory.
type member struct {
	key  string
	node *node
}

// leaf is a compiled rule at the end of its path.
type leaf struct {
	field           string
	method          Method
	arc             graph.ArcType
	scope           graph.Scope
	group, kind     part
	namespace       []companion
	conditions      []condition
	exceptions      []condition
	optionalIf      []condition
	optional        bool
	inferred        bool
	naming          *naming   // nil if the text is the name
	hosts           companion // without keys, a name alone is no address
	within          *within   // nil without Selected and Listed
	mark            string    // empty if the target is found by its name
	remote          *remote   // nil if the target is in this cluster
	emptySelectsAll bool
	allNamespaces   bool
	ofProject       bool
	// plausible: a text that cannot be a name, such as a template, is not a reference.
	plausible bool
}

// New compiles rules. References are in the order of the rules, except where rules share
// a prefix of their paths. Its errors are for the authors of the rules.
func New(rules ...Rule) (*Extractor, error) {
	x := &Extractor{kinds: rulesByKind{}}
	kinds := map[graph.Kind]*kindRules{}
	for i := range rules {
		if from := rules[i].From; from != AnyKind && kinds[from] == nil {
			kinds[from] = &kindRules{root: &node{}}
			x.kinds.put(from, kinds[from])
		}
	}
	for i := range rules {
		rule := &rules[i]
		c, err := Compile(rule)
		if err != nil {
			return nil, fmt.Errorf("rule of %s: %w", kindString(rule.From), err)
		}
		if rule.From != AnyKind {
			kinds[rule.From].root.add(c.steps, c.end)
			continue
		}
		x.commonRules.add(c.steps, c.end)
		for _, ruling := range kinds {
			ruling.root.add(c.steps, c.end)
		}
	}
	x.commonShape = x.commonRules.shape()
	for _, ruling := range kinds {
		ruling.shape = ruling.root.shape()
	}
	return x, nil
}

// Compiled is a compiled rule.
type Compiled struct {
	steps []step
	end   leaf
}

// add adds a path to the tree.
func (n *node) add(steps []step, end leaf) {
	n = n.at(steps)
	n.ends = append(n.ends, end)
}

func (n *node) below(s step) *node {
	switch s.kind {
	case elements:
		if n.elements == nil {
			n.elements = &node{}
		}
		return n.elements
	case values:
		if n.values == nil {
			n.values = &node{}
		}
		return n.values
	case field:
	}
	for i := range n.fields {
		if n.fields[i].key == s.key {
			return n.fields[i].node
		}
	}
	n.fields = append(n.fields, member{key: s.key, node: &node{}})
	return n.fields[len(n.fields)-1].node
}

// Compile compiles a rule. Its errors are for the author of the rule.
func Compile(rule *Rule) (Compiled, error) {
	steps, err := parsePath(rule.Path)
	if err != nil {
		return Compiled{}, err
	}
	end := leaf{
		field:           graph.WithWord(rule.Path, rule.Word),
		method:          rule.Method,
		arc:             cmp.Or(rule.Type, graph.Direct),
		scope:           rule.Scope,
		emptySelectsAll: rule.EmptySelectsAll,
		allNamespaces:   rule.AllNamespaces,
		ofProject:       rule.OfProject,
		mark:            rule.Mark,
		inferred:        rule.Inferred || rule.Method.infers() && !rule.Required,
	}
	end.optional = rule.Optional || end.inferred || !rule.Required && !rule.Method.lists() && !requiresTarget(rule.Path)
	if end.inferred {
		end.field = graph.InferredField + rule.Path
	}
	base := holder(steps)
	if rule.Method == Object {
		base = len(steps)
	}
	if err = check(rule); err == nil {
		err = end.resolve(rule, steps, base)
	}
	if err != nil {
		return Compiled{}, fmt.Errorf("path %q: %w", rule.Path, err)
	}
	return Compiled{steps, end}, nil
}

// requiresTarget reports whether a missing target of a field is a problem. It is not for fields of the status,
// labels, and the name of the object itself.
func requiresTarget(path string) bool {
	for _, told := range [...]string{"status.", "metadata.labels", "metadata.name"} {
		if strings.HasPrefix(path, told) {
			return false
		}
	}
	return true
}

// resolve compiles the rule's companion fields.
func (l *leaf) resolve(rule *Rule, steps []step, base int) error {
	var err error
	if l.group, err = compilePart(&rule.To.Group, steps, base); err != nil {
		return fmt.Errorf("target group: %w", err)
	}
	if l.kind, err = compilePart(&rule.To.Kind, steps, base); err != nil {
		return fmt.Errorf("target kind: %w", err)
	}
	for _, text := range rule.Namespace {
		c, err := parseCompanion(text, steps, base)
		if err != nil {
			return fmt.Errorf("namespace: %w", err)
		}
		l.namespace = append(l.namespace, c)
	}
	for _, of := range []struct {
		word  string
		texts []string
		into  *[]condition
	}{{"if", rule.If, &l.conditions}, {"unless", rule.Unless, &l.exceptions}, {"optional", rule.OptionalIf, &l.optionalIf}} {
		if *of.into, err = parseConditions(of.texts, steps, base); err != nil {
			return fmt.Errorf("%s: %w", of.word, err)
		}
	}
	if rule.Hosts != "" {
		if l.hosts, err = parseCompanion(rule.Hosts, steps, base); err != nil {
			return fmt.Errorf("hosts: %w", err)
		}
	}
	if l.naming, err = compileNaming(rule, steps, base); err != nil {
		return err
	}
	if l.remote, err = compileRemote(rule.Remote, steps, base); err != nil {
		return fmt.Errorf("remote: %w", err)
	}
	if field := rule.Selected + rule.Listed; field != "" {
		c, err := parseCompanion(field, steps, base)
		if err != nil {
			return fmt.Errorf("namespaces: %w", err)
		}
		l.within = &within{field: c, listed: rule.Listed != ""}
	}
	return nil
}

// check returns an error if parts of a rule contradict each other.
func check(rule *Rule) error {
	kind := &rule.To.Kind
	selects := rule.Method.selects()
	switch {
	case rule.From.Kind == "":
		return errors.New("has no source kind")
	case rule.From != AnyKind && strings.Contains(rule.From.Group+rule.From.Kind, "*"):
		return errors.New("source is neither a kind nor */*")
	case rule.Method > Names:
		return fmt.Errorf("unknown method %d", rule.Method)
	case kind.Field == "" && kind.Value == "" && !rule.Method.lists():
		return errors.New("has no target kind")
	case rule.Type != 0 && rule.Type != graph.Direct && rule.Type != graph.Transitive:
		return errors.New("arc type is neither r nor t")
	case rule.Scope > graph.ScopeCluster:
		return fmt.Errorf("unknown scope %d", rule.Scope)
	case rule.Scope == graph.ScopeCluster && len(rule.Namespace) > 0:
		return errors.New("a cluster-scoped target has no namespace")
	case rule.Method != Name && rule.Method != Object && (len(rule.Except) > 0 || rule.As != "" && rule.Method != Names || rule.Named != ""):
		return errors.New("only a name has exceptions, a form or a template")
	case rule.Method == Names && rule.As == "":
		return errors.New("names of a list have no form")
	}
	if !selects && (rule.EmptySelectsAll || rule.AllNamespaces && rule.Mark == "" || rule.Selected != "" || rule.Listed != "") {
		return errors.New("only a selector can be empty or match everywhere or in several namespaces")
	}
	return checkNamespaces(rule)
}

// checkNamespaces returns an error if a rule sets the namespaces of a selector in two
// ways.
func checkNamespaces(rule *Rule) error {
	ways := 0
	for _, says := range []bool{rule.AllNamespaces, rule.Selected != "", rule.Listed != "", len(rule.Namespace) > 0, rule.Scope == graph.ScopeCluster} {
		if says {
			ways++
		}
	}
	if ways > 1 {
		return errors.New("says twice in which namespaces: a selector that matches everywhere has no namespace or scope")
	}
	return nil
}

func kindString(k graph.Kind) string {
	if k.Group == "" {
		return "core/" + k.Kind
	}
	return k.Group + "/" + k.Kind
}
