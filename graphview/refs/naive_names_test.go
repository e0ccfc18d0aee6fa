package refs

import (
	"encoding/json"
	"regexp"
	"strings"

	"graphview.dev/graphview/graph"
)

var labelForm, dottedForm = regexp.MustCompile(`^[a-z0-9-]+$`), regexp.MustCompile(`^[a-z0-9.-]+$`)

// naiveNames tries every namespace and every name that the text of a list may hold.
func naiveNames(rule *Rule, ref graph.Reference, own, text string) []graph.Reference {
	var out []graph.Reference
	ref.To, ref.Optional = graph.Kind{Group: rule.To.Group.Value, Kind: rule.To.Kind.Value}, !rule.Required
	words := strings.Split(text, ",")
	if strings.HasPrefix(text, "[") {
		words = naiveList(text)
	}
	for _, word := range words {
		for form := range strings.SplitSeq(rule.As, "|") {
			one := strings.TrimSpace(word)
			if short, whole := strings.CutSuffix(form, "@{*}"); whole {
				before, rest, found := strings.Cut(one, "@")
				if !found || rest == "" {
					continue
				}
				form, one = short, before
			}
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

// naiveList reads names, or objects with a name and perhaps a namespace, of a list in JSON.
func naiveList(text string) (words []string) {
	var list []any
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	for _, element := range list {
		switch element := element.(type) {
		case string:
			words = append(words, element)
		case map[string]any:
			name, _ := element["name"].(string)
			if in, _ := element["namespace"].(string); in != "" {
				name = in + "/" + name
			}
			words = append(words, name)
		}
	}
	return words
}
