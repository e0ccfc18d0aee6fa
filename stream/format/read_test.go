package format

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/printable"
)

// picture is what a reader of any of the languages knows of a graph.
type picture struct {
	vertices []string // namespace | name | resource.group | present or missing
	arcs     []string // vertex -type-> vertex, missing
}

func line(namespace, name, title string, missing bool) string {
	return fmt.Sprintf("%s|%s|%s|%t", namespace, name, title, missing)
}

// pictureOf is what must be read back.
func pictureOf(e elements) picture {
	present, titles := map[Key]bool{}, map[Key]string{}
	for _, v := range e.vertices {
		present[v], titles[v] = true, ""
	}
	for _, a := range e.arcs {
		titles[a.From], titles[a.To] = "", ""
	}
	var p picture
	for k := range titles {
		titles[k] = line(printable.Text(k.Namespace), printable.Text(k.Name), printable.Text(k.title()), !present[k])
		p.vertices = append(p.vertices, titles[k])
	}
	for _, a := range e.arcs {
		p.arcs = append(p.arcs, fmt.Sprintf("%s -%s-> %s %t", titles[a.From], printable.Text(labelOf(a.Type, strings.Join(a.Words, " and "))), titles[a.To], a.Missing))
	}
	return p.sorted()
}

func labelOf(kind, words string) string { return (&arc{kind: kind, words: words}).label() }

func (p picture) sorted() picture {
	slices.Sort(p.vertices)
	slices.Sort(p.arcs)
	return p
}

var readers = map[Format]func(string) (picture, error){DOT: readDOT, Mermaid: readMermaid, GraphML: readGraphML}

const dotString = `"((?:[^"\\\n]|\\.)*)"`

var (
	dotNode  = regexp.MustCompile(`^ +` + dotString + ` \[label=` + dotString + `(?:, health=[a-z]+(?:, color="#[0-9a-f]+")?(?:, penwidth=2)?)?(, style="rounded,dashed")?\]$`)
	dotArc   = regexp.MustCompile(`^  ` + dotString + ` -> ` + dotString + ` \[label=` + dotString + `, style="(bold|solid|dotted)(,dashed)?"(?:, absence=[a-z]+)?(?:, tooltip=` + dotString + `)?\]$`)
	dotGroup = regexp.MustCompile(`^  subgraph "cluster_([^"]*)" \{$`)
	dotFixed = regexp.MustCompile(`^(//.*|digraph ` + dotString + ` \{|  graph .*|  node .*|    label=` + dotString + `|\})$`)
)

func readDOT(text string) (p picture, err error) {
	names, namespace := map[string]string{}, ""
	unescape := strings.NewReplacer(`\"`, `"`, `\\`, `\`, "&amp;", "&")
	for row := range strings.Lines(text) {
		row = strings.TrimSuffix(row, "\n")
		if m := dotNode.FindStringSubmatch(row); m != nil {
			name, title, ok := splitLabel(m[2])
			if !ok {
				return p, fmt.Errorf("label %q", m[2])
			}
			if names[m[1]] != "" {
				return p, fmt.Errorf("%q twice", m[1])
			}
			names[m[1]] = line(namespace, unescape.Replace(name), unescape.Replace(title), m[3] != "")
			p.vertices = append(p.vertices, names[m[1]])
		} else if m := dotArc.FindStringSubmatch(row); m != nil {
			p.arcs = append(p.arcs, fmt.Sprintf("%s -%s-> %s %t", names[m[1]], unescape.Replace(m[3]), names[m[2]], m[5] != ""))
		} else if m := dotGroup.FindStringSubmatch(row); m != nil {
			if namespace, err = url.PathUnescape(m[1]); err != nil {
				return p, err
			}
			namespace = printable.Text(namespace)
		} else if row == "  }" {
			namespace = ""
		} else if !dotFixed.MatchString(row) {
			return p, fmt.Errorf("line %q", row)
		}
	}
	return p.sorted(), nil
}

// splitLabel parts a label at its only unescaped \n.
func splitLabel(label string) (name, title string, ok bool) {
	for i := 0; i+1 < len(label); i++ {
		if label[i] == '\\' {
			if label[i+1] == 'n' {
				return label[:i], label[i+2:], true
			}
			i++
		}
	}
	return "", "", false
}

var (
	mermaidNode   = regexp.MustCompile(`^(n\d+)\["([^"\\:{}%|` + "`" + `]*)<br/>([^"<>:]*)"\](?:(:::missing)|:::[a-z]+)?$`)
	mermaidArc    = regexp.MustCompile(`^(n\d+) (==>|-->|-\.->)\|"([^"<>]*?)( missing| outside| optional)?"\| (n\d+)$`)
	mermaidGroup  = regexp.MustCompile(`^subgraph s\d+\["([^"<>:]*)"\]$`)
	mermaidFixed  = regexp.MustCompile(`^(flowchart LR|%% [^%{}]*|classDef [a-z]+ .*)$`)
	mermaidEntity = regexp.MustCompile(`#\d+;`)
)

func readMermaid(text string) (p picture, err error) {
	names, namespace := map[string]string{}, ""
	unescape := func(s string) string {
		return mermaidEntity.ReplaceAllStringFunc(s, func(entity string) string {
			code, err := strconv.Atoi(entity[1 : len(entity)-1])
			if err != nil {
				return entity
			}
			return string(rune(code))
		})
	}
	for row := range strings.Lines(text) {
		row = strings.TrimSuffix(row, "\n")
		if m := mermaidNode.FindStringSubmatch(row); m != nil {
			names[m[1]] = line(namespace, unescape(m[2]), unescape(m[3]), m[4] != "")
			p.vertices = append(p.vertices, names[m[1]])
		} else if m := mermaidArc.FindStringSubmatch(row); m != nil {
			p.arcs = append(p.arcs, fmt.Sprintf("%s -%s-> %s %t", names[m[1]], unescape(m[3]), names[m[5]], m[4] != ""))
		} else if m := mermaidGroup.FindStringSubmatch(row); m != nil {
			namespace = unescape(m[1])
		} else if row == "end" {
			namespace = ""
		} else if !mermaidFixed.MatchString(row) {
			return p, fmt.Errorf("line %q", row)
		}
	}
	return p.sorted(), nil
}

type xmlData struct {
	Key  string `xml:"key,attr"`
	Text string `xml:",chardata"`
}

func readGraphML(text string) (p picture, err error) {
	var document struct {
		XMLName xml.Name `xml:"http://graphml.graphdrawing.org/xmlns graphml"`
		Keys    []struct {
			ID  string `xml:"id,attr"`
			For string `xml:"for,attr"`
		} `xml:"key"`
		Graph struct {
			Nodes []struct {
				ID   string    `xml:"id,attr"`
				Data []xmlData `xml:"data"`
			} `xml:"node"`
			Edges []struct {
				Source string    `xml:"source,attr"`
				Target string    `xml:"target,attr"`
				Data   []xmlData `xml:"data"`
			} `xml:"edge"`
		} `xml:"graph"`
	}
	decoder := xml.NewDecoder(strings.NewReader(text))
	if err := decoder.Decode(&document); err != nil {
		return p, err
	}
	if _, err := decoder.Token(); err != nil && !errors.Is(err, io.EOF) {
		return p, err
	}
	declared := map[string]string{}
	for _, key := range document.Keys {
		declared[key.ID] = key.For
	}
	values := func(data []xmlData, of string) (map[string]string, error) {
		all := map[string]string{}
		for _, d := range data {
			if declared[d.Key] != of {
				return nil, fmt.Errorf("key %q of a %s", d.Key, of)
			}
			all[d.Key] = d.Text
		}
		return all, nil
	}
	names := map[string]string{}
	for _, node := range document.Graph.Nodes {
		v, err := values(node.Data, "node")
		if err != nil {
			return p, err
		}
		key := Key{Group: v["group"], Resource: v["resource"]}
		names[node.ID] = line(v["namespace"], v["name"], key.title(), v["missing"] == "true")
		p.vertices = append(p.vertices, names[node.ID])
	}
	for _, edge := range document.Graph.Edges {
		v, err := values(edge.Data, "edge")
		if err != nil {
			return p, err
		}
		p.arcs = append(p.arcs, fmt.Sprintf("%s -%s-> %s %t", names[edge.Source], labelOf(v["type"], v["words"]), names[edge.Target], v["leadsNowhere"] == "true"))
	}
	return p.sorted(), nil
}

func checkReadBack(t *testing.T, e elements) {
	t.Helper()
	want := pictureOf(e)
	// Mermaid needs joiners, which are nothing to see.
	seen := func(p picture) picture {
		for _, lines := range [][]string{p.vertices, p.arcs} {
			for i := range lines {
				lines[i] = strings.ReplaceAll(lines[i], string(joiner), "")
			}
		}
		return p.sorted()
	}
	for _, f := range All() {
		read := readers[f]
		if read == nil {
			t.Fatalf("%s: nothing reads it back", f)
		}
		written := text(t, e.graph(), f)
		got, err := read(written)
		if err != nil {
			t.Fatalf("%s: %v in\n%s", f, err, written)
		}
		if diff := cmp.Diff(seen(want), seen(got), cmp.AllowUnexported(picture{})); diff != "" {
			t.Errorf("%s: -want +got:\n%s", f, diff)
		}
	}
}

func TestReadBack(t *testing.T) {
	for name, e := range map[string]elements{"storefront": storefront(), "hostile": hostile(), "empty": {}} {
		t.Run(name, func(t *testing.T) { checkReadBack(t, e) })
	}
}

// FuzzReadBack: whatever names say, each language says it back, and nothing else.
func FuzzReadBack(f *testing.F) {
	for _, key := range hostile().vertices {
		f.Add(key.Group, key.Namespace, key.Name, "r", "spec.x", "why", true)
	}
	f.Fuzz(func(t *testing.T, group, namespace, name, kind, field, why string, missing bool) {
		one := Key{group, "v1", "things", namespace, name}
		two := Key{"", "v1", "things", name, namespace}
		checkReadBack(t, elements{
			vertices: []Key{one},
			arcs:     []Arc{{From: one, To: two, Type: kind, Missing: missing, Fields: []string{field}}},
			warnings: []Warning{{kind, why}},
		})
	})
}
