// Command content measures what ?content= saves a client, and writes the table into
// docs/benchmarks.md: the bytes of a graph with whole objects, with summaries and
// with names alone, and the time that the Go client takes to read and apply them.
// Times are the best of several runs in one process; what counts is their ratio.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"graphview.dev/client"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/jsontree"
)

const (
	page = "docs/benchmarks.md"
	runs = 7
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "content:", err)
		os.Exit(1)
	}
}

func run() error {
	var table strings.Builder
	table.WriteString("| vertices | content | MB | MB, gzip | Go client: read and apply, ms |\n|---|---|---|---|---|\n")
	for _, vertices := range []int{5_000, 20_000} {
		for _, content := range []string{"object", "summary", "none"} {
			text, err := graph(vertices, content)
			if err != nil {
				return err
			}
			packed, err := packedSize(text)
			if err != nil {
				return err
			}
			took, err := apply(text)
			if err != nil {
				return err
			}
			fmt.Fprintf(&table, "| %d | `%s` | %.2f | %.2f | %.0f |\n", vertices, content, float64(len(text))/1e6, float64(packed)/1e6, float64(took)/1e6)
		}
	}
	fmt.Print(table.String())
	before, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	block := regexp.MustCompile(`(?s)(<!-- content:start[^\n]*-->\n).*?(<!-- content:end -->)`)
	if !block.Match(before) {
		return fmt.Errorf("%s has no place for the table", page)
	}
	after := block.ReplaceAll(before, []byte("${1}\n"+table.String()+"\n${2}"))
	return os.WriteFile(page, after, 0o600)
}

// apply is the best time in which a client makes a graph of a message.
func apply(text []byte) (time.Duration, error) {
	best := time.Duration(1<<63 - 1)
	for range runs {
		began := time.Now()
		var m client.Message
		if err := json.Unmarshal(text, &m); err != nil {
			return 0, fmt.Errorf("read the message: %w", err)
		}
		var g client.Graph
		g.Apply(&m)
		best = min(best, time.Since(began))
	}
	return best, nil
}

func packedSize(text []byte) (int, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(text); err != nil {
		return 0, err
	}
	return packed.Len(), w.Close()
}

// graph is one message with Pods of some 5 KB, each with four references.
func graph(vertices int, content string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"actions":[`)
	for i := range vertices {
		key := fmt.Sprintf(`{"v":"v1","r":"pods","ns":"team-%d","n":"web-%d-7d9c5f6b8-%05d"}`, i/500, i/10, i)
		fmt.Fprintf(&b, `{"svx":{"vx":%s`, key)
		object := pod(i)
		switch content {
		case "object":
			b.WriteString(`,"o":`)
			b.Write(object)
		case "summary":
			summary, err := delivery.Summarize("", text(object))
			if err != nil {
				return nil, fmt.Errorf("summarize a pod: %w", err)
			}
			b.WriteString(`,"m":`)
			b.Write(summary.AppendJSON(nil))
		}
		b.WriteString("}},")
	}
	for i := range vertices {
		key := fmt.Sprintf(`{"v":"v1","r":"pods","ns":"team-%d","n":"web-%d-7d9c5f6b8-%05d"}`, i/500, i/10, i)
		for to, field := range map[string]string{
			"configmaps": "spec.volumes[].configMap.name", "secrets": "spec.volumes[].secret.secretName",
			"serviceaccounts": "spec.serviceAccountName", "nodes": "spec.nodeName",
		} {
			fmt.Fprintf(&b, `{"sarc":{"s":%s,"d":{"v":"v1","r":"%s","ns":"team-%d","n":"web-%d"},"t":"r","a":{"f":["%s"]}}},`, key, to, i/500, i/10, field)
		}
	}
	b.Truncate(b.Len() - 1)
	b.WriteString(`],"rev":"r","synced":true}`)
	return b.Bytes(), nil
}

func pod(i int) []byte {
	var env []string
	for n := range 40 {
		env = append(env, fmt.Sprintf(`{"name":"SETTING_%d","value":"https://service-%d.team-%d.svc.cluster.local/%d/%d"}`, n, n, i/500, i, n))
	}
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-%d-7d9c5f6b8-%05d","namespace":"team-%d","uid":"7d9c5f6b-0000-4000-8000-%012d",`+
		`"creationTimestamp":"2026-01-02T03:04:05Z","labels":{"app.kubernetes.io/name":"web-%d","app.kubernetes.io/part-of":"shop-%d"}},`+
		`"spec":{"nodeName":"node-%d","serviceAccountName":"web-%d","containers":[{"name":"web","image":"registry.example.com/team/web:1.%d","env":[%s]}]},`+
		`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T03:04:09Z"}],`+
		`"containerStatuses":[{"name":"web","ready":true,"restartCount":0,"state":{"running":{"startedAt":"2026-01-02T03:04:08Z"}}}]}}`,
		i/10, i, i/500, i, i/10, i/100, i%50, i/10, i, strings.Join(env, ","))
}

// text is an object as it is retained.
type text []byte

func (o text) UID() string                           { return "7d9c5f6b-0000-4000-8000-000000000000" }
func (o text) HasContent() bool                      { return true }
func (o text) Size() int                             { return len(o) }
func (o text) AppendJSON(dst []byte) ([]byte, error) { return append(dst, o...), nil }
func (o text) Tree() (map[string]any, error)         { return jsontree.Whole(o) }

func (o text) Part(shape *jsontree.Shape) (map[string]any, error) { return jsontree.Part(o, shape) }
