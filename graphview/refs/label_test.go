package refs

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

// FuzzLabels holds the rules of labels against apimachinery's.
func FuzzLabels(f *testing.F) {
	for _, text := range []string{
		"", "a", "A.b_c-9", "-a", "a-", "a b", "/a", "a/", "a/b/c", "example.com/a", "Example.com/a", "a..b/c", "a.-b/c", "a-.b/c", ".a/b", "ä",
		strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a.", 126) + "a/b", strings.Repeat("a.", 127) + "a/b",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := isLabelKey(text), len(validation.IsQualifiedName(text)) == 0; got != want {
			t.Errorf("key %q: %t, want %t", text, got, want)
		}
		if got, want := isLabelValue(text), len(validation.IsValidLabelValue(text)) == 0; got != want {
			t.Errorf("value %q: %t, want %t", text, got, want)
		}
	})
}
