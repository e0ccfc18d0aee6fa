package advice

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"graphview.dev/graphview/resources"
)

// Reason is the kind of a finding.
type Reason string

// The reasons. Reasons that concern more of the graph come first.
const (
	QueryMatchesNothing Reason = "QueryMatchesNothing"
	QueryShadowed       Reason = "QueryShadowed"
	UnknownName         Reason = "UnknownName"
	NamespaceNotFound   Reason = "NamespaceNotFound"
	NoRoots             Reason = "NoRoots"
)

// Comparison is a variable and a text that an expression compares it with.
type Comparison struct {
	Variable, Text string
}

// Query is a query and its effect.
type Query struct {
	// Path is the path of its expression.
	Path    string
	Include bool
	// Compared are the comparisons in the expression.
	Compared []Comparison
	// Fate is the effect of the query.
	Fate Fate
	// By is the index of the first query that decides instead of this one, if Fate is Shadowed.
	By int
}

// Fate is the effect of a query.
type Fate int

// The fates. Unknown means that the query could not be evaluated.
const (
	Unknown Fate = iota
	Decides
	Shadowed
	Matchless
)

// Root is an expression that selects roots.
type Root struct {
	Path     string
	Compared []Comparison
	// Description describes the selected objects. It is "" for an expression of the user.
	Description string
}

// Spec is the input of advice.
type Spec struct {
	Queries []Query
	Roots   []Root
	// Served are all served resources, Selected the resources that the queries select.
	Served, Selected []resources.Resource
	// Namespaces are the namespaces that the spec names.
	Namespaces []string
	// NoNamespaces: the spec selects namespaces with selectors, and none matches.
	NoNamespaces bool
}

// Finding is one piece of advice. Its text is Path: Message.
type Finding struct {
	Reason        Reason
	Path, Message string
}

func (f Finding) String() string { return f.Path + ": " + f.Message }

// maxTexts is the maximum number of findings that Texts lists.
const maxTexts = 10

// Texts returns the texts of at most maxTexts findings, and a text that counts the others.
func Texts(findings []Finding) []string {
	var texts []string
	for i, f := range findings {
		switch {
		case i < maxTexts:
		case len(findings) >= MaxFindings:
			return append(texts, "and more") // the search stops at MaxFindings
		default:
			return append(texts, fmt.Sprintf("and %d more", len(findings)-i))
		}
		texts = append(texts, f.String())
	}
	return texts
}

// Advice are the findings about a spec.
type Advice struct {
	// Findings do not depend on objects.
	Findings []Finding
	// Roots are reasons why root expressions may select nothing. They matter only while no object
	// is a root, or while that is not known.
	Roots []Finding
	// Absent are further findings that are true only if no object is a root.
	Absent []Finding
}

// WhileRootless returns the findings for a view without a root.
func (a Advice) WhileRootless() []Finding {
	none := Finding{NoRoots, "spec.roots", "no object is a root, so nothing is visible; an object that becomes one is shown at once"}
	return slices.Concat(a.Findings, []Finding{none}, a.Roots, a.Absent)
}

// maxNamed is the maximum number of missing namespaces that have a finding each.
const maxNamed = 5

// MaxFindings is the number of findings after which Of stops. It is more than Texts lists.
const MaxFindings = 32

// Of returns advice about a spec. It stops after MaxFindings findings or when ctx is done.
func Of(ctx context.Context, s Spec) Advice {
	served := newIndex(s.Served)
	var a Advice
	enough := func() bool { return len(a.Findings) >= MaxFindings || ctx.Err() != nil }
	for i := range s.Queries {
		if enough() {
			break
		}
		a.Findings = append(a.Findings, served.query(s.Queries, i)...)
	}
	if s.NoNamespaces {
		a.Findings = append(a.Findings, Finding{NamespaceNotFound, "spec.namespaces", "it selects no namespace that exists; one that comes to match is taken at once"})
	}
	selected := newIndex(s.Selected)
	for _, root := range s.Roots {
		if enough() {
			break
		}
		sure := served.unknownNames(root.Path, root.Compared)
		a.Findings = append(a.Findings, sure...)
		if why := served.whyNoRoots(root, selected, s.Namespaces); why != "" && len(sure) == 0 {
			a.Roots = append(a.Roots, Finding{NoRoots, root.Path, why})
		} else if len(sure) == 0 && root.Description != "" {
			a.Absent = append(a.Absent, Finding{NoRoots, root.Path, "the queries select no " + root.Description})
		}
	}
	return a
}

// query returns the findings about one query.
func (x *index) query(queries []Query, i int) []Finding {
	q := &queries[i]
	switch {
	case q.Fate == Matchless && q.Include:
		return []Finding{{QueryMatchesNothing, q.Path, cmp.Or(after("it matches nothing: ", x.why(q.Compared)), "it matches nothing that the cluster serves")}}
	case q.Fate == Shadowed:
		return []Finding{{QueryShadowed, q.Path, fmt.Sprintf(
			"it decides nothing: whatever it matches is decided by an earlier query, such as spec.queries[%d]; the first that matches decides, so put the narrower one first", q.By)}}
	}
	return x.unknownNames(q.Path, q.Compared)
}

// unknownNames returns findings about names that are not served and are surely mistakes.
// Any other name may be served later, after its CRD is installed.
func (x *index) unknownNames(path string, compared []Comparison) []Finding {
	var out []Finding
	for _, c := range compared {
		if len(out) == MaxFindings {
			break
		}
		if s, ok := x.suggest(c); ok && s.sure {
			out = append(out, Finding{UnknownName, path, s.String()})
		}
	}
	return slices.Compact(out)
}

// whyNoRoots returns the reason why a root expression may select nothing, "" if unknown.
func (x *index) whyNoRoots(r Root, selected *index, namespaces []string) string {
	if why := x.why(r.Compared); why != "" {
		return why
	}
	if why := selected.unselected(r.Compared); why != "" {
		return why
	}
	for _, c := range r.Compared {
		if c.Variable == "namespace" && len(namespaces) > 0 && !slices.Contains(namespaces, c.Text) {
			return fmt.Sprintf("spec.namespaces does not name %s", quoted(c.Text))
		}
	}
	return ""
}

// OfNamespaces finds the namespaces that a spec names and that do not exist. It
// suggests only names in suggested, which the reader of the advice may know.
func OfNamespaces[Name ~string](named []Name, exists func(name string) bool, suggested []string) []Finding {
	var out []Finding
	more := 0
	for i := range named {
		name := string(named[i])
		switch {
		case exists(name):
			continue
		case len(out) == maxNamed:
			more++
			continue
		}
		then := "; what is in it is shown when it is created"
		if near := Nearest(name, suggested, 1); len(near) > 0 {
			then = fmt.Sprintf("; did you mean %s?", quoted(near[0]))
		}
		out = append(out, Finding{NamespaceNotFound, fmt.Sprintf("spec.namespaces.names[%d]", i), fmt.Sprintf("there is no namespace %s%s", quoted(name), then)})
	}
	if more > 0 {
		out = append(out, Finding{NamespaceNotFound, "spec.namespaces.names", fmt.Sprintf("%d more do not exist", more)})
	}
	return out
}

// after returns lead and text, "" if text is empty.
func after(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}

// maxQuoted is the maximum length of a text in a message, in bytes.
const maxQuoted = 80

// quoted returns a text in quotes, as in CEL. It replaces control characters, which terminals obey.
func quoted(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	return "'" + text + "'"
}

// KindNotServed is the reason if no API serves a kind that a ReferenceRule names.
const KindNotServed Reason = "KindNotServed"

// NamedKind is a kind that a spec names, and the path of that field.
type NamedKind struct {
	Path, Group, Kind string
}

// OfKinds finds the kinds that no API serves, each once.
func OfKinds(named []NamedKind, served []resources.Resource) []Finding {
	x := newIndex(served)
	var out []Finding
	said := map[NamedKind]bool{}
	looks := 0
	for _, k := range named {
		in := x.kinds[k.Kind]
		same := NamedKind{Group: k.Group, Kind: k.Kind}
		if said[same] || slices.ContainsFunc(in, func(r resources.Resource) bool { return r.Group == k.Group }) {
			continue
		}
		said[same] = true
		message := "no API serves the kind " + quoted(k.Kind) + " of " + groupText(k.Group)
		switch {
		case slices.ContainsFunc(in, func(r resources.Resource) bool { return r.Group == "" }) && isCore(k.Group):
			message += "; leave group out, or empty, for Kubernetes' core"
		case len(in) > 0:
			message += fmt.Sprintf("; it is of %s", oneOf(in, func(r resources.Resource) string { return r.Group }))
		case len(x.named(k.Kind)) > 0:
			message += fmt.Sprintf("; did you mean %s?", oneOf(x.named(k.Kind), func(r resources.Resource) string { return r.Kind }))
		default:
			if looks++; looks > maxLooks {
				break
			}
			if near := Nearest(k.Kind, slices.Collect(maps.Keys(x.kinds)), 1); len(near) > 0 {
				message += fmt.Sprintf("; did you mean %s?", quoted(near[0]))
			}
		}
		out = append(out, Finding{KindNotServed, k.Path, message})
	}
	return out
}

func groupText(group string) string {
	if group == "" {
		return "Kubernetes' core"
	}
	return "group " + quoted(group)
}

// isCore reports whether users write a text for the core group by mistake.
func isCore(group string) bool {
	switch strings.ToLower(group) {
	case "core", "v1", "api", "legacy", "core/v1":
		return true
	}
	return false
}
