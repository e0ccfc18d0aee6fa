package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// embedded has the page. hack/bundle bundles the modules of web into dist.
//
//go:embed dist/main.js dist/link.js dist/graph-view.js dist/worker.js dist/export.js dist/model web/index.html web/page.css web/icon.svg
var embedded embed.FS

// policy lets the page load only files of its own origin, and no page frame it. Trusted
// Types keep its scripts from making markup from text; their one policy makes the URL of
// the worker.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types graph-view"

// Options of a handler.
type Options struct {
	// Prefix is the path that the page is served under, with slashes around it;
	// default "/dashboard/".
	Prefix string
	// FrameAncestors are the sources of pages that may frame this one, as in a
	// Content-Security-Policy. Without any, no page may.
	FrameAncestors []string
	// Token lets the page ask the user for a bearer token if the server requires one.
	// The token is kept only in the page's memory.
	Token bool
}

// file is a served file, plain and gzipped.
type file struct {
	content, zipped []byte
	mediaType, etag string
}

// Handler serves the files of the page for GET and HEAD. It reads and compresses them
// once, when it is created.
func Handler(o Options) (http.Handler, error) {
	if o.Prefix == "" {
		o.Prefix = "/dashboard/"
	}
	sources, err := Files()
	if err != nil {
		return nil, err
	}
	sources["config.json"] = fmt.Appendf(nil, `{"token":%t}`, o.Token)
	files := make(map[string]*file, len(sources))
	for name, content := range sources {
		files[name] = newFile(name, content)
	}
	files[""] = files["index.html"]
	security := policy
	if len(o.FrameAncestors) > 0 {
		security = strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors "+strings.Join(o.FrameAncestors, " "), 1)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", security)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			header.Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		if r.URL.Path == strings.TrimSuffix(o.Prefix, "/") {
			http.Redirect(w, r, o.Prefix, http.StatusPermanentRedirect)
			return
		}
		name, ok := strings.CutPrefix(r.URL.Path, o.Prefix)
		f := files[name]
		if !ok || f == nil {
			http.Error(w, "there is no such file", http.StatusNotFound)
			return
		}
		f.serve(w, r)
	}), nil
}

// Files returns a copy of all files of the page, by path.
func Files() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(embedded, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(embedded, name)
		_, path, _ := strings.Cut(name, "/")
		files[path] = content
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	return files, nil
}

func newFile(name string, content []byte) *file {
	var zipped bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression) // a level that there is
	_, _ = writer.Write(content)                                    // a buffer takes everything
	_ = writer.Close()
	sum := sha256.Sum256(content)
	mediaType := mime.TypeByExtension(path.Ext(name))
	switch path.Ext(name) {
	case ".js": // whatever the machine's table says: browsers insist
		mediaType = "text/javascript; charset=utf-8"
	case ".svg":
		mediaType = "image/svg+xml"
	}
	return &file{content: content, zipped: zipped.Bytes(), mediaType: mediaType, etag: `"` + hex.EncodeToString(sum[:12]) + `"`}
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.mediaType)
	header.Set("Cache-Control", "no-cache")
	header.Set("Vary", "Accept-Encoding")
	content, etag := f.content, f.etag
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && len(f.zipped) < len(f.content) {
		header.Set("Content-Encoding", "gzip")
		content, etag = f.zipped, strings.TrimSuffix(f.etag, `"`)+`-gzip"`
	}
	header.Set("ETag", etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
