package docs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	page := "text\n\n```console\nkubectl get pods |\n  cat\n# not this\nls\n```\n\n```yaml\na: b\n```\n\n" +
		"<!-- test: no; there is no Docker -->\n\n```sh\ndocker build .\n```\n\n<!-- test: fails -->\n```console\n$ false\nno\n```\n"
	got, err := parse("page.md", page)
	if err != nil {
		t.Fatal(err)
	}
	want := []block{
		{page: "page.md", line: 3, script: "kubectl get pods |\n  cat\n# not this\nls\n"},
		{page: "page.md", line: 16, how: no, reason: "there is no Docker", script: "docker build .\n"},
		{page: "page.md", line: 21, how: fails, script: "false\n", printed: "no\n"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(block{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"kubectl get pods |\ncat", "ls"}, got[0].commands()); diff != "" {
		t.Errorf("commands, -want +got:\n%s", diff)
	}
	for name, text := range map[string]string{
		"no reason":    "<!-- test: no -->\n```sh\nls\n```\n",
		"another word": "<!-- test: perhaps -->\n```sh\nls\n```\n",
	} {
		if _, err := parse("page.md", text); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
}
