package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/test/oracle"
)

// line is the line for one vertex, arc or warning. detail is a message; a scenario has a
// part of it after a ~, or nothing.
type line struct {
	head, detail string
	// optional: a scenario need not mention the detail.
	optional bool
}

// parseLines reads the lines of a want, status, actions or error section.
func parseLines(text string) []line {
	var lines []line
	for l := range strings.Lines(text) {
		l, _, _ = strings.Cut(l, "#")
		if l = strings.TrimSpace(l); l != "" {
			head, detail, _ := strings.Cut(l, " ~ ")
			lines = append(lines, line{head: head, detail: detail})
		}
	}
	return lines
}

// differ returns the difference between wanted and got lines in any order, or "".
func differ(want, got []line) string {
	texts := func(lines []line, render func(line) string) []string {
		var all []string
		for _, l := range lines {
			all = append(all, render(l))
		}
		slices.Sort(all)
		return all
	}
	text := func(l line) string {
		if l.detail == "" {
			return l.head
		}
		return l.head + " ~ " + l.detail
	}
	return cmp.Diff(texts(want, text), texts(got, func(l line) string {
		for _, w := range want {
			if w.head == l.head && (w.detail != "" || l.optional) && strings.Contains(l.detail, w.detail) {
				return text(w)
			}
		}
		return text(l)
	}))
}

// resourceText names a resource as kubectl does; version v1 goes without saying.
func resourceText(group, version, resource string) string {
	if group == "" {
		return resource
	}
	if version == "v1" {
		return resource + "." + group
	}
	return resource + "." + version + "." + group
}

func vertexText(k oracle.VertexKey) string {
	name := k.Name
	if k.Namespace != "" {
		name = k.Namespace + "/" + name
	}
	return resourceText(k.Group, k.Version, k.Resource) + " " + name
}

// contentText tells what a vertex shows: nothing needs no word but for what is
// unusual, an object none at all.
func contentText(content any) string {
	switch content := content.(type) {
	case nil:
		return " empty"
	case []any:
		text, err := json.Marshal(content)
		if err != nil {
			return " " + err.Error()
		}
		return " j=" + string(text)
	case map[string]any:
		if metadata, _ := content["metadata"].(map[string]any); metadata["managedFields"] != nil {
			return " with managedFields"
		}
		if content["apiVersion"] == nil {
			text, err := json.Marshal(content)
			if err != nil {
				return " " + err.Error()
			}
			return " f=" + string(text)
		}
	}
	return ""
}

func arcText(k oracle.ArcKey) string {
	return fmt.Sprintf("%s -%s-> %s", vertexText(k.From), k.Type, vertexText(k.To))
}

func attributesText(a oracle.Attributes) string {
	var marks []string
	for _, m := range []struct {
		name string
		set  bool
	}{{"c", a.Controller}, {"b", a.BlockOwnerDeletion}, {"e", a.Missing}, {a.Outside, a.Outside != ""}, {"o", a.Optional}} {
		if m.set {
			marks = append(marks, m.name)
		}
	}
	text := ""
	if len(marks) > 0 {
		text = " {" + strings.Join(marks, ",") + "}"
	}
	if len(a.Fields) > 0 {
		text += " f=" + strings.Join(a.Fields, ",")
	}
	return text
}

func warningLine(w oracle.Warning) line {
	a := func(name string) string {
		text, _ := w.Attributes[name].(string)
		return text
	}
	words := []string{"!", w.Type}
	if a("r") != "" {
		words = append(words, resourceText(a("g"), a("v"), a("r")))
	}
	switch {
	case a("ns") != "" && a("n") != "":
		words = append(words, a("ns")+"/"+a("n"))
	case a("ns")+a("n") != "":
		words = append(words, a("ns")+a("n"))
	}
	return line{head: strings.Join(words, " "), detail: w.Message, optional: true}
}

func statusLine(r v1alpha1.ResourceStatus) line {
	head := fmt.Sprintf("%s %d", resourceText(r.Group, r.Version, r.Resource), r.Objects)
	if !r.Synced {
		head += " unsynced"
	}
	return line{head: head, detail: r.Message}
}

// graphLines show all that a client has.
func graphLines(c *oracle.Client) []line {
	var lines []line
	for k, content := range c.Graph().Vertices {
		lines = append(lines, line{head: vertexText(k) + contentText(content)})
	}
	for k, a := range c.Graph().Arcs {
		lines = append(lines, line{head: arcText(k) + attributesText(a)})
	}
	for _, w := range c.Warnings() {
		lines = append(lines, warningLine(w))
	}
	return lines
}
