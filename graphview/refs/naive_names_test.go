package refs

import (
	"regexp"
	"strings"

	"graphview.dev/graphview/graph"
)

var labelForm, dottedForm = regexp.MustCompile(`^[a-z0-9-]+$`), regexp.MustCompile(`^[a-z0-9.-]+$`)

// naiveNames tries every namespace and every name that the text of a list may hold.
func naiveNames(rule *Rule, ref graph.Reference, own, text string) []graph.Reference {
	var out []graph.Reference
	ref.To, ref.Optional = graph.Kind{Group: rule.To.Group.Value, Kind: rule.To.Kind.Value}, true
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSpace(one)
		for form := range strings.SplitSeq(rule.As, "|") {
			spaced, longest := strings.Contains(form, "{ns}"), 0
			if spaced {
				longest = min(len(one), 63)
			}
			for i := range len(one) + 1 {
				for j := i + 1; j <= len(one); j++ {
					for k := range longest + 1 {
						ns, called := one[:k], one[i:j]
						filled := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(form, "{ns}", ns), "{name}", called), "{label}", called)
						if filled != one || spaced && !labelForm.MatchString(ns) ||
							strings.Contains(form, "{label}") && !labelForm.MatchString(called) || !dottedForm.MatchString(called) {
							continue
						}
						ref.Name, ref.Namespace = called, ""
						if rule.Scope != graph.ScopeCluster {
							if ref.Namespace = own; spaced {
								ref.Namespace = ns
							}
							if ref.Namespace == "" {
								continue
							}
						}
						out = append(out, ref)
					}
				}
			}
		}
	}
	return out
}
