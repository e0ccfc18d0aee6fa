package spec

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/helm"
)

// Root is a compiled selector of roots.
type Root struct {
	// Path is the path of the selector in the spec, and Expression its CEL expression.
	Path, Expression string
	*expr.ObjectSelector
	// Description describes the selected objects. It is "" for an expression of the user.
	Description string
}

// Member returns the path without "spec.", for warnings about objects.
func (r *Root) Member() string { return strings.TrimPrefix(r.Path, "spec.") }

// maxRootSelector is the maximum length of a root object's label selector, as in the GraphView CRD.
const maxRootSelector = 1024

// roots compiles the selectors of roots. Objects come first, since they cost less to evaluate.
func (c *compiler) roots(path string, r *v1alpha1.Roots) (roots []Root) {
	if n := len(r.Objects); n > maxRoots {
		c.addError(path+".objects", "must have at most %d objects, has %d", maxRoots, n)
	}
	for i := range r.Objects[:min(len(r.Objects), maxRoots)] {
		root := Root{Path: fmt.Sprintf("%s.objects[%d]", path, i)}
		if c.rootObject(&root, &r.Objects[i]) {
			roots = append(roots, root)
		}
	}
	if n := len(r.ObjectSelectorExpressions); n > maxRoots {
		c.addError(path+".objectSelectorExpressions", "must have at most %d expressions, has %d", maxRoots, n)
	}
	for i, text := range r.ObjectSelectorExpressions[:min(len(r.ObjectSelectorExpressions), maxRoots)] {
		root := Root{Path: fmt.Sprintf("%s.objectSelectorExpressions[%d]", path, i), Expression: string(text)}
		var err error
		if root.ObjectSelector, err = expr.CompileObject(c.ctx, c.turn, root.Expression); c.check(root.Path, err) {
			roots = append(roots, root)
		}
	}
	return roots
}

// walk returns the way from the roots to the visible objects.
func (c *compiler) walk(path string, r *v1alpha1.Roots) graph.Walk {
	against := c.arcTypes(path+".ignoreArcDirection", r.IgnoreArcDirection)
	if r.Follow == nil {
		return graph.Walk{Against: against}
	}
	direction, ok := graph.ParseDirection(string(r.Follow.Direction))
	switch {
	case !ok:
		c.unsupported(path+".follow.direction", "unknown direction %q, expected Down, Up or Both", r.Follow.Direction)
	case len(r.IgnoreArcDirection) > 0:
		c.unsupported(path, "follow and ignoreArcDirection exclude each other")
	case r.Follow.Depth < 0 || r.Follow.Depth > graph.MaxDepth:
		c.unsupported(path+".follow.depth", "must be between 0 and %d", graph.MaxDepth)
	}
	return graph.Walk{Direction: direction, Depth: int(r.Follow.Depth), Types: c.arcTypes(path+".follow.types", r.Follow.Types)}
}

func (c *compiler) arcTypes(path string, names []v1alpha1.ArcType) (types []graph.ArcType) {
	for i, name := range names {
		arcType, ok := graph.ParseArcType(string(name))
		if !ok {
			c.unsupported(fmt.Sprintf("%s[%d]", path, i), "unknown reference type %q, expected or, r or t", name)
		}
		types = append(types, arcType)
	}
	return types
}

// managers are the kinds of Argo CD and Flux whose objects list the objects that they deploy.
var managers = []struct {
	member, group, kind, title string
	name                       func(*v1alpha1.RootObject) string
}{
	{"argoApplication", "argoproj.io", "Application", "Application of Argo CD", func(o *v1alpha1.RootObject) string { return string(o.ArgoApplication) }},
	{"fluxKustomization", "kustomize.toolkit.fluxcd.io", "Kustomization", "Kustomization of Flux", func(o *v1alpha1.RootObject) string { return string(o.FluxKustomization) }},
	{"fluxHelmRelease", "helm.toolkit.fluxcd.io", "HelmRelease", "HelmRelease of Flux", func(o *v1alpha1.RootObject) string { return string(o.FluxHelmRelease) }},
}

// rootObject translates o to an expression, and compiles the expression. It returns
// false if o is invalid.
func (c *compiler) rootObject(root *Root, o *v1alpha1.RootObject) bool {
	before := len(c.errs)
	e := &conjunction{}
	ways := 0
	if o.Kind != "" || o.LabelSelector != "" {
		ways++
		c.described(root, o, e)
	}
	for _, m := range managers {
		if name := m.name(o); name != "" {
			ways++
			c.name(root.Path+"."+m.member, name, validation.DNS1123SubdomainMaxLength)
			e.equals("group", m.group)
			e.equals("kind", m.kind)
			e.equals("name", name)
			root.Description = m.title + " that is named " + quoted(name)
		}
	}
	if name := string(o.HelmRelease); name != "" {
		ways++
		c.name(root.Path+".helmRelease", name, maxRelease)
		e.equals("group", "")
		e.terms = append(e.terms, `kind in ["Secret", "ConfigMap"]`)
		c.labels(root.Path+".helmRelease", helm.Selector(name), e)
		root.Description = "deployed or pending release of Helm that is named " + quoted(name)
	}
	switch {
	case ways != 1:
		c.addError(root.Path, "must say in exactly one way what the object is: by kind, labelSelector or both, or by one of helmRelease, argoApplication, fluxKustomization and fluxHelmRelease")
	case o.Kind == "" && (o.Group != nil || o.Name != ""):
		c.addError(root.Path, "has group or name without a kind; add kind, such as Deployment")
	case o.Name != "" && o.LabelSelector != "":
		c.addError(root.Path, "has name and labelSelector, which exclude each other; name one object, or select objects by their labels")
	}
	if namespace := string(o.Namespace); namespace != "" {
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			c.addError(root.Path+".namespace", "%q is not the name of a namespace: %s", namespace, problems[0])
		}
		e.equals("namespace", namespace)
		root.Description += " in namespace " + quoted(namespace)
	}
	if len(c.errs) > before || c.interrupted {
		return false
	}
	root.Expression = strings.Join(e.terms, " && ")
	if c.text += len(root.Expression); c.text > maxText {
		c.addError(root.Path, tooMuchText, maxText, c.text)
		return false
	}
	var err error
	root.ObjectSelector, err = expr.CompileObject(c.ctx, c.turn, root.Expression)
	return c.check(root.Path, err)
}

// maxRelease is the maximum length of the name of a Helm release.
const maxRelease = 53

// described adds the terms for group, kind, name and labels.
func (c *compiler) described(root *Root, o *v1alpha1.RootObject, e *conjunction) {
	what := "object"
	if o.Group != nil {
		if *o.Group != "" {
			c.name(root.Path+".group", *o.Group, validation.DNS1123SubdomainMaxLength)
		}
		e.equals("group", *o.Group)
	}
	if o.Kind != "" {
		what = o.Kind
		if len(validation.IsDNS1035Label(strings.ToLower(o.Kind))) > 0 {
			c.addError(root.Path+".kind", "%s is not a kind; expected one such as Deployment, without group or version", quoted(o.Kind))
		}
		e.equals("kind", o.Kind)
	}
	root.Description = what
	if o.Name != "" {
		// Some kinds allow names that are not DNS subdomains.
		if len(o.Name) > validation.DNS1123SubdomainMaxLength || strings.ContainsAny(o.Name, "/%") || !utf8.ValidString(o.Name) {
			c.addError(root.Path+".name", "%s is not the name of an object", quoted(o.Name))
		}
		e.equals("name", o.Name)
		root.Description += " that is named " + quoted(o.Name)
	}
	if o.LabelSelector != "" {
		c.labels(root.Path+".labelSelector", o.LabelSelector, e)
		root.Description += " with these labels"
	}
}

// name checks the name of an object.
func (c *compiler) name(path, name string, most int) {
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		c.addError(path, "%s is not a name: %s", quoted(name), problems[0])
	} else if len(name) > most {
		c.addError(path, "must have at most %d characters", most)
	}
}

// labels adds the terms for a label selector.
func (c *compiler) labels(path, text string, e *conjunction) {
	if len(text) > maxRootSelector {
		c.addError(path, "must have at most %d characters", maxRootSelector)
		return
	}
	selector, err := expr.ParseLabelSelector(text)
	if !c.check(path, err) {
		return
	}
	requirements, selectable := selector.Requirements()
	if !selectable || len(requirements) == 0 {
		c.addError(path, "selects everything; leave it out, or name a label")
	}
	if len(requirements) > maxRequirements {
		c.addError(path, "must have at most %d requirements, has %d", maxRequirements, len(requirements))
		return
	}
	for _, r := range requirements {
		e.requires(r)
	}
}

// maxRequirements is the maximum number of requirements in a label selector of a root.
// It keeps the expression within the limits of package expr.
const maxRequirements = 32

// quoted returns a text in quotes, for a message.
func quoted(text string) string { return "'" + strings.Trim(strconv.Quote(text), `"`) + "'" }

// conjunction is an expression with terms that are joined by &&.
type conjunction struct{ terms []string }

func (e *conjunction) equals(variable, value string) {
	e.terms = append(e.terms, variable+" == "+strconv.Quote(value))
}

// requires adds the term for a label requirement, with the same meaning as in the API server.
func (e *conjunction) requires(r labels.Requirement) {
	key := strconv.Quote(r.Key())
	has, of := key+" in labels", "labels["+key+"]"
	values := make([]string, 0, len(r.ValuesUnsorted()))
	for _, value := range r.Values().List() {
		values = append(values, strconv.Quote(value))
	}
	in := has + " && " + of + " in [" + strings.Join(values, ", ") + "]"
	term := ""
	switch r.Operator() {
	case selection.Exists:
		term = has
	case selection.DoesNotExist:
		term = "!(" + has + ")"
	case selection.In, selection.Equals, selection.DoubleEquals:
		term = in
	case selection.NotIn, selection.NotEquals:
		term = "!(" + in + ")"
	case selection.GreaterThan, selection.LessThan:
		operator := map[selection.Operator]string{selection.GreaterThan: ">", selection.LessThan: "<"}[r.Operator()]
		term = fmt.Sprintf("%s && %s.matches('^[-+]?[0-9]{1,18}$') && int(%s) %s %s", has, of, of, operator, r.Values().List()[0])
	}
	e.terms = append(e.terms, term)
}
