package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Whoever follows docs/architecture.md looks for a name in the file that the link
// leads to, so it has to be declared there.
func TestArchitectureNamesWhatIsThere(t *testing.T) {
	const folder = "../../docs"
	text, err := os.ReadFile(filepath.Join(folder, "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([A-Za-z.]+)`\\s*\\(\\[[^\\]]*\\]\\(([^)]+\\.go)\\)").FindAllStringSubmatch(string(text), -1)
	if len(named) < 30 {
		t.Fatalf("%d names with a file were found in the page; it has more", len(named))
	}
	for _, match := range named {
		name, file := match[1], filepath.Join(folder, match[2])
		source, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !declares(string(source), name) {
			t.Errorf("%s declares no %s: say where it is now", match[2], name)
		}
	}
}

// declares tells whether a Go file declares a function, a method or a type, which may
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
