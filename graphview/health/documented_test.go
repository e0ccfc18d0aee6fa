package health

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListsAreDocumented: docs/health.md has the conditions, flags, fields and words that this package knows, in the order in
// which they count. TestWords has the words of a status.
func TestListsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/health.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
	for name, test := range map[string]struct {
		sentence string
		want     []string
		ordered  bool
	}{
		"the deciding condition":  {"The first of ([^.]*) that the object has decides", usualConditions, true},
		"flags":                   {"has flags in its status, or in an object there: ([^|]*) \\|", slices.Collect(maps.Keys(usualFlags)), false},
		"ends":                    {"has the condition ([^|]*) \\|", slices.Collect(maps.Keys(ends)), false},
		"fields that count first": {"but does not begin with previous, desired, target or requested\\. ([^.]*) count first", firstWords, false},
		"what waits":              {"its reason has a word that begins with ([a-z, ]*) or ([a-z]*) \\|", patient, false},
	} {
		said := regexp.MustCompile(test.sentence).FindStringSubmatch(page)
		if said == nil {
			t.Errorf("%s: the page has no such sentence: %s", name, test.sentence)
			continue
		}
		documented := regexp.MustCompile(`[A-Za-z]+`).FindAllString(strings.NewReplacer(" and ", " ", " or ", " ").Replace(strings.Join(said[1:], " ")), -1)
		want := slices.Clone(test.want)
		if !test.ordered {
			slices.Sort(want)
			slices.Sort(documented)
		}
		if diff := cmp.Diff(want, documented); diff != "" {
			t.Errorf("%s: -known +documented:\n%s", name, diff)
		}
	}
	said := regexp.MustCompile("kinds whose name ends with ([A-Za-z, ]*) or ([A-Za-z]*), unless it begins with Scheduled").FindStringSubmatch(page)
	if said == nil {
		t.Fatal("the page does not say what runs once")
	}
	kinds := regexp.MustCompile(`[A-Za-z]+`).FindAllString(strings.Join(said[1:], " "), -1)
	for _, kind := range kinds {
		if o := (&object{kind: Kind{Kind: "Nightly" + kind}}); !o.runsOnce() {
			t.Errorf("a Nightly%s does not run once", kind)
		}
		if o := (&object{kind: Kind{Kind: "Scheduled" + kind}}); o.runsOnce() {
			t.Errorf("a Scheduled%s runs once", kind)
		}
	}
	if len(kinds) < 13 {
		t.Errorf("what runs once: %q", kinds)
	}
}
