package load

import (
	"bytes"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestScope(t *testing.T) {
	document := Parse("{name: a}\n---\nname: {{.Word 5}}-{{.Hex 4}}\nnumbers: {{len (.Count 3)}}\n")
	if len(document) != 2 {
		t.Fatalf("%d documents, want two", len(document))
	}
	texts := map[string]bool{}
	for i := range 3 {
		for range 2 { // the same each time
			var text bytes.Buffer
			if err := document[1].Execute(&text, NewScope(i)); err != nil {
				t.Fatal(err)
			}
			texts[text.String()] = true
		}
	}
	if len(texts) != 3 {
		t.Errorf("%d texts of three scopes: %v", len(texts), texts)
	}
	var got struct {
		Name    string
		Numbers int
	}
	for text := range texts {
		if err := yaml.Unmarshal([]byte(text), &got); err != nil || len(got.Name) != 10 || got.Numbers != 3 {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
