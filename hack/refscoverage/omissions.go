package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"graphview.dev/graphview/graph"
)

//go:embed omissions.txt
var omissionsText string

// omission is the reason why some fields of some kinds have no row.
type omission struct {
	line   string
	kind   string
	path   *regexp.Regexp
	reason string
	used   bool
}

// parseOmissions parses lines of a kind or *, a path with * for any name, and a reason. Lines that
// begin with # are comments.
func parseOmissions(text string) ([]*omission, error) {
	var all []*omission
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) < 3 {
			return nil, fmt.Errorf("omissions.txt: %q: expected a kind, a path and a reason", strings.TrimSpace(line))
		}
		path := strings.ReplaceAll(regexp.QuoteMeta(words[1]), `\*`, `.*`)
		all = append(all, &omission{
			line: strings.Join(words[:2], " "), kind: words[0], path: regexp.MustCompile("^" + path + "$"), reason: strings.Join(words[2:], " "),
		})
	}
	return all, nil
}

// reasonFor returns the reason why a field has no row.
func reasonFor(all []*omission, kind graph.Kind, path string) (string, bool) {
	for _, o := range all {
		if (o.kind == "*" || o.kind == kindName(kind)) && o.path.MatchString(path) {
			o.used = true
			return o.reason, true
		}
	}
	return "", false
}

func kindName(kind graph.Kind) string {
	if kind.Group == "" {
		return "core/" + kind.Kind
	}
	return kind.Group + "/" + kind.Kind
}
