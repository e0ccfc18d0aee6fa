package dashboard

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, o Options, method, target string, header map[string]string) *http.Response {
	t.Helper()
	handler, err := Handler(o)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(t.Context(), method, target, http.NoBody)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder.Result()
}

func TestHandler(t *testing.T) {
	for name, test := range map[string]struct {
		method, target string
		want           int
		wantType       string
	}{
		"the page":           {target: "/dashboard/", want: 200, wantType: "text/html; charset=utf-8"},
		"a module":           {target: "/dashboard/main.js", want: 200, wantType: "text/javascript; charset=utf-8"},
		"what others embed":  {target: "/dashboard/graph-view.js", want: 200, wantType: "text/javascript; charset=utf-8"},
		"a style sheet":      {target: "/dashboard/page.css", want: 200, wantType: "text/css; charset=utf-8"},
		"settings":           {target: "/dashboard/config.json", want: 200, wantType: "application/json"},
		"without a slash":    {target: "/dashboard", want: 308, wantType: "text/html; charset=utf-8"},
		"no such file":       {target: "/dashboard/secret", want: 404, wantType: "text/plain; charset=utf-8"},
		"a folder":           {target: "/dashboard/view/", want: 404, wantType: "text/plain; charset=utf-8"},
		"a source of ours":   {target: "/dashboard/../handler.go", want: 404, wantType: "text/plain; charset=utf-8"},
		"not to be written":  {method: http.MethodPost, target: "/dashboard/", want: 405, wantType: "text/plain; charset=utf-8"},
		"only the beginning": {method: http.MethodHead, target: "/dashboard/", want: 200, wantType: "text/html; charset=utf-8"},
	} {
		t.Run(name, func(t *testing.T) {
			method := test.method
			if method == "" {
				method = http.MethodGet
			}
			response := get(t, Options{}, method, test.target, nil)
			if response.StatusCode != test.want || response.Header.Get("Content-Type") != test.wantType {
				t.Errorf("%s %q, want %d %q", response.Status, response.Header.Get("Content-Type"), test.want, test.wantType)
			}
			if got := response.Header.Get("Content-Security-Policy"); got != policy {
				t.Errorf("policy %q", got)
			}
		})
	}
}

func TestPolicyFramedByOthers(t *testing.T) {
	response := get(t, Options{FrameAncestors: []string{"https://grafana.example.com"}}, http.MethodGet, "/dashboard/", nil)
	if got := response.Header.Get("Content-Security-Policy"); !strings.Contains(got, "frame-ancestors https://grafana.example.com;") {
		t.Errorf("policy %q", got)
	}
}

func TestFilesAreSentOnceAndCompressed(t *testing.T) {
	plain := get(t, Options{}, http.MethodGet, "/dashboard/main.js", nil)
	want, err := io.ReadAll(plain.Body)
	if err != nil {
		t.Fatal(err)
	}
	zipped := get(t, Options{}, http.MethodGet, "/dashboard/main.js", map[string]string{"Accept-Encoding": "gzip"})
	reader, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(reader); err != nil || string(got) != string(want) {
		t.Errorf("compressed, it is something else: %v", err)
	}
	etag := zipped.Header.Get("ETag")
	if etag == plain.Header.Get("ETag") {
		t.Error("two forms have one ETag")
	}
	again := get(t, Options{}, http.MethodGet, "/dashboard/main.js", map[string]string{"Accept-Encoding": "gzip", "If-None-Match": etag})
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("what is known is sent again: %s", again.Status)
	}
}

// The page needs nothing from elsewhere, and every module that one imports is
// served.
func TestModulesAreServed(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	imports := regexp.MustCompile(`(?:from|import\() ?"([^"]+)"|\bimport ?"([^"]+)"|new URL\("([^"]+)"`)
	total, found := 0, 0
	for name, content := range files {
		// The worker has the engine in itself, which is for pages that may have none; what exports waits until it is asked for.
		if name != "model/engine.js" && name != "export.js" {
			total += len(newFile(name, content).zipped)
		}
		if !strings.HasSuffix(name, ".js") {
			continue
		}
		for _, match := range imports.FindAllStringSubmatch(string(content), -1) {
			found++
			path := match[1] + match[2] + match[3]
			at := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://x/dashboard/"+name, http.NoBody).URL
			to, err := at.Parse(path)
			if err != nil || files[strings.TrimPrefix(to.Path, "/dashboard/")] == nil || to.Host != "x" {
				t.Errorf("%s imports %s, which is not served", name, path)
			}
		}
	}
	const most, mostFiles = 70_000, 10
	if total > most || len(files) > mostFiles {
		t.Errorf("the page is %d files and %d bytes, compressed; want at most %d and %d", len(files), total, mostFiles, most)
	}
	if found < 4 {
		t.Errorf("%d imports were found: the modules are not read as they are written", found)
	}
	t.Logf("%d files, %d bytes compressed", len(files), total)
}
