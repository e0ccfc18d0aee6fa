package dashboard

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the script
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"time"
)

//go:embed dist/snapshot.js
var snapshotScript []byte

// snapshotPolicy lets the page run only its own script, and load or connect to nothing.
const snapshotPolicy = "default-src 'none'; connect-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Snapshot is a graph at one instant.
type Snapshot struct {
	View  string // NAMESPACE/NAME
	Taken time.Time
	// Graph is a message of the stream, in JSON, with the whole graph and summaries.
	Graph any
}

// WriteSnapshot writes a page that draws a graph in a browser without a server: one
// file with everything in it.
func WriteSnapshot(w io.Writer, s Snapshot) error {
	// The encoder escapes <, so that no name ends the script element.
	data, err := json.Marshal(map[string]any{"view": s.View, "taken": s.Taken.UnixMilli(), "graph": s.Graph})
	if err != nil {
		return fmt.Errorf("snapshot of %s: %w", s.View, err)
	}
	files, err := Files()
	if err != nil {
		return err
	}
	style := files["page.css"]
	view, taken := html.EscapeString(s.View), s.Taken.UTC().Format("2006-01-02 15:04:05 UTC")
	var page bytes.Buffer
	fmt.Fprintf(&page, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s, %s – GraphView</title>
<link rel="icon" href="data:image/svg+xml;base64,%s">
<style>%s</style>
</head>
<body>
<main><noscript>A snapshot of %s, taken at %s. This page draws with JavaScript.</noscript></main>
<script type="application/json">`,
		fmt.Sprintf(snapshotPolicy, sum(snapshotScript), sum(style)), view, taken,
		base64.StdEncoding.EncodeToString(files["icon.svg"]), style, view, taken)
	page.Write(data)
	page.WriteString("</script>\n<script type=\"module\">")
	page.Write(snapshotScript)
	page.WriteString("</script>\n</body>\n</html>\n")
	if _, err := page.WriteTo(w); err != nil {
		return fmt.Errorf("snapshot of %s: %w", s.View, err)
	}
	return nil
}

// sum returns the hash of content in the form of a Content-Security-Policy.
func sum(content []byte) string {
	hash := sha256.Sum256(content)
	return base64.StdEncoding.EncodeToString(hash[:])
}
