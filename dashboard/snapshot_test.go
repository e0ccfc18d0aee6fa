package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// hostile are names that would mean something to a browser.
var hostile = map[string]string{
	"an end of the script":       `</script><script>alert(1)</script>`,
	"an end in capitals":         `</SCRIPT ><img src=x onerror=alert(1)>`,
	"a comment":                  `<!--<script>`,
	"an end of a comment":        `--></script>`,
	"an entity":                  `&lt;/script&gt;&quot;`,
	"separators of lines":        "a\u2028b\u2029c",
	"quotes and an escape":       `"'\u003c/script\u003e\`,
	"an end of the title":        `</title><script>alert(1)</script>`,
	"an end of the style":        `</style></noscript></main>`,
	"no ASCII":                   "日本語 שלום 👩‍👩‍👧‍👦",
	"a format":                   "%s %d %[9]v %!",
	"one that a page would find": "constructor __proto__ ${alert(1)} `x`",
	"a long one":                 strings.Repeat("x", 100),
}

var document = regexp.MustCompile(`(?s)^<!doctype html>.*<meta http-equiv="Content-Security-Policy" content="([^"]*)">.*<title>([^<]*)</title>` +
	`.*<style>([^<]*)</style>.*<noscript>([^<]*)</noscript></main>\n<script type="application/json">(.*)</script>\n<script type="module">(.*)</script>\n</body>\n</html>\n$`)

// A hostile name stays within the data of the page: it is read back unchanged, and adds no
// elements.
func TestWriteSnapshot(t *testing.T) {
	taken := time.Date(2026, 11, 22, 23, 59, 58, 123e6, time.FixedZone("", -3600))
	for about, name := range hostile {
		t.Run(about, func(t *testing.T) {
			graph := map[string]any{"actions": []any{map[string]any{"svx": map[string]any{"vx": map[string]any{"n": name}, name: name}}}, "synced": true}
			var page bytes.Buffer
			if err := WriteSnapshot(&page, Snapshot{View: "shop/" + name, Taken: taken, Graph: graph}); err != nil {
				t.Fatal(err)
			}
			text := page.String()
			parts := document.FindStringSubmatch(text)
			if parts == nil {
				t.Fatalf("no such page:\n%.2000s", text)
			}
			policy, title, style, without, data, script := parts[1], parts[2], parts[3], parts[4], parts[5], parts[6]
			if strings.ContainsAny(data, "<>&\u2028\u2029") {
				t.Errorf("not escaped: %s", data)
			}
			for tag, want := range map[string]int{"<script": 2, "</script": 2, "<style": 1, "</style": 1, "<title": 1, "</title": 1, "<img": 0, "<!--": 0} {
				if got := strings.Count(strings.ToLower(text), tag); got != want {
					t.Errorf("%s is there %d times, want %d", tag, got, want)
				}
			}
			var got map[string]any
			if err := json.Unmarshal([]byte(data), &got); err != nil {
				t.Fatal(err)
			}
			want := map[string]any{"view": "shop/" + name, "taken": float64(taken.UnixMilli()), "graph": graph}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, text := range []string{title, without} {
				if !strings.Contains(text, "2026-11-23 00:59:58 UTC") || !strings.Contains(text, "shop/") {
					t.Errorf("%q does not say of what it is and when it was", text)
				}
			}
			for directive, want := range map[string]string{
				"default-src": "'none'", "connect-src": "'none'", "script-src": "'sha256-" + sum([]byte(script)) + "'",
				"style-src": "'sha256-" + sum([]byte(style)) + "'", "trusted-types": "'none'",
			} {
				if got := sources(policy, directive); got != want {
					t.Errorf("%s is %s, want %s", directive, got, want)
				}
			}
		})
	}
}

// sources are what a policy says of a directive.
func sources(policy, directive string) string {
	for part := range strings.SplitSeq(policy, ";") {
		if name, sources, _ := strings.Cut(strings.TrimSpace(part), " "); name == directive {
			return sources
		}
	}
	return ""
}

// The page is bounded but for its graph, and nothing of it is elsewhere.
func TestSnapshotIsOneFile(t *testing.T) {
	var page bytes.Buffer
	if err := WriteSnapshot(&page, Snapshot{View: "shop/storefront"}); err != nil {
		t.Fatal(err)
	}
	const most = 214 << 10
	if page.Len() > most {
		t.Errorf("%d bytes, want at most %d", page.Len(), most)
	}
	t.Logf("%d bytes", page.Len())
	documented, err := os.ReadFile("../docs/kubectl.md")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`It takes some (\d+) kB`).FindSubmatch(documented)
	if said == nil {
		t.Fatal("docs/kubectl.md does not say how large it is")
	}
	if thousands, _ := strconv.Atoi(string(said[1])); max(page.Len()-thousands*1000, thousands*1000-page.Len()) > 10_000 {
		t.Errorf("%d bytes, and docs/kubectl.md says %d kB", page.Len(), thousands)
	}
	if found := regexp.MustCompile(`\bimport ?[("{*]|\bfrom ?"|import\.meta|<link rel="stylesheet"|\bsrc="`).Find(page.Bytes()); found != nil {
		t.Errorf("it has %s", found)
	}
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteSnapshotFails(t *testing.T) {
	if err := WriteSnapshot(full{}, Snapshot{View: "shop/storefront"}); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
	var page bytes.Buffer
	if err := WriteSnapshot(&page, Snapshot{View: "shop/storefront", Graph: func() {}}); err == nil || page.Len() > 0 {
		t.Errorf("%v, after %d bytes", err, page.Len())
	}
}
