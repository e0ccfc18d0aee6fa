package validation

import (
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	tests := map[string]struct {
		text  string
		limit int
		want  string
	}{
		"short":     {text: "abc", limit: 3, want: "abc"},
		"long":      {text: "abcdef", limit: 5, want: "ab…"},
		"wide":      {text: "éééé", limit: 4, want: "…"},
		"wider":     {text: "ééééé", limit: 6, want: "é…"},
		"malformed": {text: "a\xffb", limit: 5, want: "a\uFFFDb"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Cut(tt.text, tt.limit); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzCut: compilers and API servers may say anything, and the API server
// refuses a whole status for one byte too many.
func FuzzCut(f *testing.F) {
	f.Add("abc", 4)
	f.Add("é…\xff\xc3", 3)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = min(max(limit, len(ellipsis)), 4096)
		if got := Cut(text, limit); !utf8.ValidString(got) || len(got) > limit {
			t.Errorf("not UTF-8, or longer than %d bytes: %q", limit, got)
		}
	})
}
