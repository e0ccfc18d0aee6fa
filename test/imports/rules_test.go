package imports

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Rule is a rule of depguard: the files that it applies to, and their denied imports.
type Rule struct {
	Files    []string `json:"files"`
	Allow    []string `json:"allow"`
	Deny     []Denied `json:"deny"`
	ListMode string   `json:"list-mode"`

	name       string
	only, none []*regexp.Regexp
	tests      bool // whether it is for tests too
}

// Denied is an import path or a prefix of import paths, and the reason.
type Denied struct {
	Package string `json:"pkg"`
	Why     string `json:"desc"`
}

// ReadRules reads the rules of the linter's configuration, sorted by name. It returns an
// error for settings that this package does not implement.
func ReadRules(path string) ([]*Rule, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the linter's configuration: %w", err)
	}
	var configuration struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]*Rule `json:"rules"`
				} `json:"depguard"`
			} `json:"settings"`
		} `json:"linters"`
	}
	if err := yaml.Unmarshal(text, &configuration); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var rules []*Rule
	all := configuration.Linters.Settings.Depguard.Rules
	for _, name := range slices.Sorted(maps.Keys(all)) {
		rule := all[name]
		rule.name, rule.tests = name, true
		if len(rule.Allow) > 0 && rule.ListMode != "lax" {
			return nil, fmt.Errorf("rule %s allows packages in list-mode %q; only lax is understood", name, rule.ListMode)
		}
		for _, glob := range rule.Files {
			switch {
			case glob == "!$test":
				rule.tests = false
			case strings.Contains(glob, "$"):
				return nil, fmt.Errorf("rule %s is for files %q, which is not understood", name, glob)
			case strings.HasPrefix(glob, "!"):
				rule.none = append(rule.none, pattern(glob[1:]))
			default:
				rule.only = append(rule.only, pattern(glob))
			}
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// pattern returns a glob as a regular expression: ** matches any folders, * anything in one.
func pattern(glob string) *regexp.Regexp {
	text := regexp.QuoteMeta(glob)
	text = strings.ReplaceAll(text, `\*\*/`, "(.*/)?")
	text = strings.ReplaceAll(text, `\*`, "[^/]*")
	return regexp.MustCompile("^" + text + "$")
}

// Refuses returns the reason why a file, by its path in the repository, may not import a
// package; empty if it may.
func (r *Rule) Refuses(file, imported string) string {
	matches := func(p *regexp.Regexp) bool { return p.MatchString(file) }
	switch {
	case !r.tests && strings.HasSuffix(file, "_test.go"), slices.ContainsFunc(r.none, matches):
		return ""
	case len(r.only) > 0 && !slices.ContainsFunc(r.only, matches):
		return ""
	}
	allowed := 0
	for _, prefix := range r.Allow {
		if covers(prefix, imported) {
			allowed = max(allowed, len(prefix))
		}
	}
	for _, denied := range r.Deny {
		if covers(denied.Package, imported) && len(denied.Package) >= allowed {
			return r.name + ": " + denied.Why
		}
	}
	return ""
}

// covers reports whether an import path begins with a prefix or, if the prefix ends in $,
// is equal to it.
func covers(prefix, imported string) bool {
	if whole, ok := strings.CutSuffix(prefix, "$"); ok {
		return imported == whole
	}
	return strings.HasPrefix(imported, prefix)
}
