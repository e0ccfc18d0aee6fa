package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	codeBlock  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	linkOf     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingOf  = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	linkedText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	noAnchor   = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	markOf     = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
)

// TestLinks: what a page of the repository links to is in the repository, headings
// included.
func TestLinks(t *testing.T) {
	command := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md")
	command.Dir = root
	listed, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for page := range strings.FieldsSeq(string(listed)) {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range linkOf.FindAllStringSubmatch(codeBlock.ReplaceAllString(string(text), ""), -1) {
			file, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(file, ":") {
				continue // another site
			}
			links++
			target := filepath.Join(root, page)
			if file != "" {
				target = filepath.Join(root, filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", page, match[1])
				continue
			}
			if anchor != "" && strings.HasSuffix(target, ".md") && !slices.Contains(anchorsOf(t, target), anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, match[1])
			}
		}
	}
	if links < 300 {
		t.Errorf("%d links were found; there are more", links)
	}
}

// anchorsOf are the places of a page that a link may lead to, as GitHub makes them of
// headings.
func anchorsOf(t *testing.T, page string) (anchors []string) {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := codeBlock.ReplaceAllString(string(content), "")
	for _, match := range headingOf.FindAllStringSubmatch(text, -1) {
		heading := linkedText.ReplaceAllString(match[1], "$1")
		anchors = append(anchors, strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-"))
	}
	for _, match := range markOf.FindAllStringSubmatch(text, -1) {
		anchors = append(anchors, match[1])
	}
	return anchors
}
