package document

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReplace(t *testing.T) {
	const begins, ends = "<!-- start -->", "<!-- end -->"
	for name, test := range map[string]struct {
		document, want string
		wantErr        error
	}{
		"replaced":   {"a\n" + begins + "\nold\n" + ends + "\nb\n", "a\n" + begins + "\nnew\n" + ends + "\nb\n", nil},
		"empty":      {begins + ends, begins + "\nnew\n" + ends, nil},
		"no markers": {"a\n", "a\n", ErrNoPlace},
		"no end":     {begins + "a", begins + "a", ErrNoPlace},
		"backwards":  {ends + begins, ends + begins, ErrNoPlace},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "page.md")
			if err := os.WriteFile(path, []byte(test.document), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := Replace(path, begins, ends, "new\n"); !errors.Is(err, test.wantErr) {
				t.Errorf("error %v, want %v", err, test.wantErr)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
