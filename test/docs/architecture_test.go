package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A reader of docs/architecture.md or CONTRIBUTING.md looks for a name in the linked file,
// so the file must declare it.
func TestDocumentedNamesExist(t *testing.T) {
	for page, atLeast := range map[string]int{"../../docs/architecture.md": 30, "../../CONTRIBUTING.md": 5} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile("`([A-Za-z.]+)`\\s*\\(\\[[^\\]]*\\]\\(([^)]+\\.go)\\)").FindAllStringSubmatch(string(text), -1)
		if len(named) < atLeast {
			t.Errorf("%d names with a file were found in %s; it has more", len(named), page)
		}
		for _, match := range named {
			name, file := match[1], filepath.Join(filepath.Dir(page), match[2])
			source, err := os.ReadFile(file)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if !declares(string(source), name) {
				t.Errorf("%s: %s declares no %s: say where it is now", page, match[2], name)
			}
		}
	}
}

// declares reports whether a Go file declares a function, a method or a type. The name may
// be qualified, such as Engine.loop.
func declares(source, name string) bool {
	receiver, last, qualified := strings.Cut(name, ".")
	if !qualified {
		last = name
	}
	last = regexp.QuoteMeta(last)
	if qualified && regexp.MustCompile(`(?m)^func \([a-z]* ?\*?`+regexp.QuoteMeta(receiver)+`\) `+last+`\b`).MatchString(source) {
		return true
	}
	return regexp.MustCompile(`(?m)^(func|type) ` + last + `\b|^func \([^)]*\) ` + last + `\b|^\t` + last + ` (struct|func|interface)\b`).MatchString(source)
}
