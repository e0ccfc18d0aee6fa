package expr

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/jsonpath"

	"graphview.dev/graphview/jsontree"
)

func pod() map[string]any {
	return map[string]any{
		"kind": "Pod",
		"metadata": map[string]any{
			"name":   "web-1",
			"labels": map[string]any{"app.kubernetes.io/name": "web", "<b>": "ä"},
		},
		"spec": map[string]any{
			"priority": int64(10),
			"weight":   0.5,
			"none":     nil,
			"empty":    []any{},
			"containers": []any{
				map[string]any{"name": "app", "image": "web:1", "ports": []any{int64(80), int64(443)}, "tty": true},
				map[string]any{"name": "sidecar", "image": "proxy:2", "ports": []any{}},
				map[string]any{"name": "log", "image": "log:3"},
			},
		},
	}
}

func TestJSONPath(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want string
		// likeKubectl is whether client-go's evaluator finds the same. Where it
		// is false that one fails, or orders by chance.
		likeKubectl bool
	}{
		"field":              {"{.kind}", `["Pod"]`, true},
		"without braces":     {".kind", `["Pod"]`, false},
		"without dot":        {"kind", `["Pod"]`, false},
		"braces without dot": {"{metadata.name}", `["web-1"]`, false},
		"root":               {"{$.kind}", `["Pod"]`, true},
		"root only":          {"$.kind", `["Pod"]`, false},
		"current":            {"{@.kind}", `["Pod"]`, true},
		"spaces":             {" { .kind } ", `["Pod"]`, false},
		"object":             {"{.metadata.labels}", `[{"<b>":"ä","app.kubernetes.io/name":"web"}]`, true},
		"whole":              {"{@['kind','spec']['weight']}", `[0.5]`, true},
		"escaped dot":        {`{.metadata.labels.app\.kubernetes\.io/name}`, `["web"]`, true},
		"quoted key":         {`{.metadata['name']}`, `["web-1"]`, true},
		"missing":            {"{.status.phase}", `[]`, true},
		"missing in scalar":  {"{.kind.foo}", `[]`, true},
		"null":               {"{.spec.none}", `[null]`, true},
		"in null":            {"{.spec.none.foo}", `[]`, true},
		"number":             {"{.spec.priority}{.spec.weight}", `[10,0.5]`, true},
		"boolean":            {"{.spec.containers[0].tty}", `[true]`, true},
		"index":              {"{.spec.containers[1].name}", `["sidecar"]`, true},
		"last":               {"{.spec.containers[-1].name}", `["log"]`, true},
		"beyond":             {"{.spec.containers[3].name}", `[]`, false},
		"before":             {"{.spec.containers[-4].name}", `[]`, false},
		"in empty":           {"{.spec.empty[0]}", `[]`, false},
		"slice":              {"{.spec.containers[0:2].name}", `["app","sidecar"]`, true},
		"slice from":         {"{.spec.containers[1:].name}", `["sidecar","log"]`, true},
		"slice from end":     {"{.spec.containers[-2:].name}", `["sidecar","log"]`, true},
		"slice beyond":       {"{.spec.containers[1:9].name}", `["sidecar","log"]`, false},
		"slice before":       {"{.spec.containers[-9:1].name}", `["app"]`, false},
		"step":               {"{.spec.containers[::2].name}", `["app","log"]`, true},
		"huge step":          {"{.spec.containers[1::9223372036854775807].name}", `["sidecar"]`, false},
		"backwards":          {"{.spec.containers[2:1].name}", `[]`, false},
		"wildcard":           {"{.spec.containers[*].name}", `["app","sidecar","log"]`, true},
		"nested wildcard":    {"{.spec.containers[*].ports[*]}", `[80,443]`, true},
		"members":            {"{.spec.containers[0].*}", `["web:1","app",[80,443],true]`, false},
		"union":              {"{.spec.containers[0,2].name}", `["app","log"]`, true},
		"union of keys":      {"{.spec.containers[*]['name','image']}", `["app","sidecar","log","web:1","proxy:2","log:3"]`, true},
		"recursive":          {"{..name}", `["web-1","app","sidecar","log"]`, false},
		"recursive below":    {"{.spec..ports}", `[[80,443],[]]`, true},
		"recursive all":      {"{.metadata..}", `[{"labels":{"<b>":"ä","app.kubernetes.io/name":"web"},"name":"web-1"},{"<b>":"ä","app.kubernetes.io/name":"web"},"ä","web","web-1"]`, false},
		"filter":             {`{.spec.containers[?(@.name=="log")].image}`, `["log:3"]`, true},
		"filter not":         {`{.spec.containers[?(@.name!="log")].image}`, `["web:1","proxy:2"]`, true},
		"filter exists":      {`{.spec.containers[?(@.tty)].name}`, `["app"]`, true},
		"filter boolean":     {`{.spec.containers[?(@.tty==true)].name}`, `["app"]`, true},
		"filter number":      {`{.spec.containers[0].ports[?(@>=100)]}`, `[443]`, true},
		"filter less":        {`{.spec.containers[0].ports[?(@<100)]}{.spec.containers[0].ports[?(@<=80)]}{.spec.containers[0].ports[?(@>80)]}`, `[80,80,443]`, true},
		"filter float":       {`{.spec.containers[0].ports[?(@>100.5)]}`, `[443]`, false},
		"filter null":        {`{.spec.none[?(@.a=="b")]}`, `[]`, false},
		"filter missing":     {`{.status.conditions[?(@.type=="Ready")].status}`, `[]`, true},
		"range":              {`{range .spec.containers[*]}{.name}{.image}{end}{.kind}`, `["app","web:1","sidecar","proxy:2","log","log:3","Pod"]`, true},
		"nested range":       {`{range .spec.containers[*]}{range .ports[*]}{@}{end}{.name}{end}`, `[80,443,"app","sidecar","log"]`, true},
		"range over nothing": {`{range .status.x[*]}{.name}{end}{.kind}`, `["Pod"]`, true},
		"empty range":        {`{range .spec.containers[*]}{end}`, `[]`, true},
		"text":               {`kind: {.kind}{"\n"}`, `["kind: ","Pod","\n"]`, true},
		"literals":           {`{1}{1.5}{true}{'a'}`, `[1,1.5,true,"a"]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := ParseJSONPath(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Find(t.Context(), on(pod()))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("Find() (-want +got):\n%s", diff)
			}
			got, err = p.Find(t.Context(), inParts(t, pod()))
			if diff := cmp.Diff(tc.want, string(got)); diff != "" || err != nil {
				t.Errorf("Find() in parts of the object: %v (-want +got):\n%s", err, diff)
			}
			if tc.likeKubectl {
				if diff := cmp.Diff(kubectlFinds(t, tc.text), string(got)); diff != "" {
					t.Errorf("Find() (-kubectl +got):\n%s", diff)
				}
			}
		})
	}
}

// kubectlFinds evaluates a template with client-go.
func kubectlFinds(t *testing.T, text string) string {
	t.Helper()
	p := jsonpath.New("").AllowMissingKeys(true)
	if err := p.Parse(text); err != nil {
		t.Fatal(err)
	}
	results, err := p.FindResults(pod())
	if err != nil {
		t.Fatal(err)
	}
	found := []any{}
	for _, nodes := range results {
		for _, node := range nodes {
			found = append(found, node.Interface())
		}
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(found); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

func TestJSONPathParseErrors(t *testing.T) {
	checkErrors(t, map[string]invalid{
		"empty":             {" ", `JSONPath is empty; expected a path such as {.status}: " "`},
		"unclosed brace":    {"{.status", `invalid JSONPath: a '{' is not closed; expected '}': "{.status"`},
		"unclosed bracket":  {"{.a[}", `invalid JSONPath: a '[' is not closed; expected ']': "{.a[}"`},
		"index":             {"{.a[x]}", `line 1, column 5: invalid JSONPath: invalid array index x: "{.a[x]}"`},
		"character":         {"{.a & b}", `line 1, column 5: invalid JSONPath: unexpected character '&': "{.a & b}"`},
		"character, line 2": {"{.a}\n{&}", `line 2, column 2: invalid JSONPath: unexpected character '&': "{.a}\n{&}"`},
		"unclosed filter":   {"{.a[?(@.x=='1'}", `invalid JSONPath: a '[?(' is not closed; expected ')]': "{.a[?(@.x=='1'}"`},
		"filter bracket":    {"{.a[?(@.x)}", `invalid JSONPath: a filter is not closed; expected ']' after ')': "{.a[?(@.x)}"`},
		"filter name":       {"{.a[?(foo==1)]}", `line 1, column 7: invalid JSONPath: unknown name 'foo'; expected .foo for a field, or 'foo' in quotes for text: "{.a[?(foo==1)]}"`},
		"filter operator":   {"{.a[?(@.x=>1)]}", `line 1, column 10: invalid JSONPath: unknown operator '=>' in a filter; expected ==, !=, <, <=, > or >=: "{.a[?(@.x=>1)]}"`},
		"recursive twice":   {"{....a}", `invalid JSONPath: '..' follows '..'; expected a name after the first: "{....a}"`},
		"step":              {"{.a[::0]}", `invalid JSONPath: the step of a slice must be greater than 0: "{.a[::0]}"`},
		"number":            {"{1.2.3}", `line 1, column 2: invalid JSONPath: cannot parse number 1.2.3: "{1.2.3}"`},
		"quote":             {"{'abc}", `invalid JSONPath: a quoted text is not closed: "{'abc}"`},
		"no end":            {"{range .a[*]}{.b}", `invalid JSONPath: {range} without {end} after it: "{range .a[*]}{.b}"`},
		"only range":        {"{range .a}", `invalid JSONPath: {range} without {end} after it: "{range .a}"`},
		"no range":          {"{.a}{end}", `invalid JSONPath: {end} without {range} before it: "{.a}{end}"`},
		"two ends":          {"{range .a}{end}{end}", `invalid JSONPath: {end} without {range} before it: "{range .a}{end}{end}"`},
		"too long":          {"{." + strings.Repeat("a", MaxTextLength) + "}", "JSONPath of 10243 bytes is too long; at most 10240 are allowed: …"},
		"keyword":           {"{foo .a}{.b}", `line 1, column 2: invalid JSONPath: unknown keyword 'foo'; expected a path such as .status, range or end: "{foo .a}{.b}"`},
	}, func(text string) error {
		_, err := ParseJSONPath(text)
		return err
	})
}

func TestJSONPathFindErrors(t *testing.T) {
	t.Parallel()
	deep := any("x")
	for range 1_000 {
		deep = map[string]any{"a": deep, "b": strings.Repeat("y", 100)}
	}
	object := map[string]any{
		"text":  secret,
		"list":  []any{secret, int64(1), map[string]any{"a": secret}},
		"many":  make([]any, 20_000),
		"large": strings.Repeat("a", 800_000),
		"deep":  deep,
	}
	for name, tc := range map[string]struct {
		text string
		want string
	}{
		"index of text":   {"{.text[0]}", "JSONPath uses [] on something that is no list"},
		"filter of text":  {"{.text[?(@.a)]}", "JSONPath uses a filter on something that is no list"},
		"types":           {"{.list[?(@==1)]}", "JSONPath filter cannot compare values of these types"},
		"several":         {"{.list[?(@.*==..)]}", "JSONPath filter compares several values at once"},
		"nodes":           {"{.many[*]}", "JSONPath finds too many nodes; at most 10000 are allowed"},
		"steps":           {"{.many[" + strings.Repeat("*,", 20) + "*]}", "JSONPath looks at too many values; at most 200000 are allowed"},
		"nested ranges":   {"{range .many[*]}{.a}{.b}{.c}{.d}{.e}{.f}{.g}{.h}{.i}{.j}{end}", "JSONPath looks at too many values; at most 200000 are allowed"},
		"filter":          {"{range [" + strings.Repeat("'many',", 20) + "'many'][?(@)]}{end}", "JSONPath looks at too many values; at most 200000 are allowed"},
		"empty ranges":    {"{range .many[*]}" + strings.Repeat("{range}{end}", 20) + "{end}", "JSONPath looks at too many values; at most 200000 are allowed"},
		"bytes":           {"{.large}{.large}{.large}", "JSONPath finds too much; at most 2 times the size of the object is allowed"},
		"nested bytes":    {"{.deep..}", "JSONPath finds too much; at most 2 times the size of the object is allowed"},
		"recursive twice": {"{.deep..a..a..a..a}", "JSONPath looks at too many values; at most 200000 are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := ParseJSONPath(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			found, err := p.Find(t.Context(), on(object))
			if err == nil {
				t.Fatalf("Find() = %.100s, want an error", found)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func BenchmarkJSONPathFind(b *testing.B) {
	p, err := ParseJSONPath("{.spec.containers[*].image}")
	if err != nil {
		b.Fatal(err)
	}
	object := pod()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Find(b.Context(), on(object)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLimitOfParts: the limit of a result is that of the whole object, whatever part the path reads.
func TestLimitOfParts(t *testing.T) {
	t.Parallel()
	object := map[string]any{"text": strings.Repeat("a", 10_000), "rest": map[string]any{"more": strings.Repeat("b", 50_000)}}
	for n, within := range map[int]bool{3: true, 11: true, 13: false} { // 130,000 bytes are too many beside 60,000
		p, err := ParseJSONPath(strings.Repeat("{.text}", n))
		if err != nil {
			t.Fatal(err)
		}
		if found, err := p.Find(t.Context(), inParts(t, object)); (err == nil) != within {
			t.Errorf("%d times the text: found %d bytes, %v", n, len(found), err)
		}
	}
}

// TestPathReadsParts: a path asks for the value to which its fields lead, and not for the rest.
func TestPathReadsParts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{.metadata.labels}": `{"metadata":{"labels":{"<b>":"ä","app.kubernetes.io/name":"web"}}}`,
		"{.spec.containers[?(@.tty)].name}{.spec.weight}": `{"spec":{"containers":[{"image":"web:1","name":"app","ports":[80,443],"tty":true},` +
			`{"image":"proxy:2","name":"sidecar","ports":[]},{"image":"log:3","name":"log"}],"weight":0.5}}`,
		"{.kind.foo}": `{"kind":"Pod"}`,
	} {
		p, err := ParseJSONPath(text)
		if err != nil {
			t.Fatal(err)
		}
		part, err := inParts(t, pod()).Part(p.shape)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := encode(part, nil); err != nil || string(got) != want {
			t.Errorf("%s reads %s, %v, want %s", text, got, err, want)
		}
	}
}

// inParts returns an input with an object. A path reads parts of it.
func inParts(t *testing.T, object map[string]any) *Input {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	in := on(object)
	in.Part = func(shape *jsontree.Shape) (map[string]any, error) { return jsontree.Part(text, shape) }
	return in
}

// on is an object as an input.
func on(object map[string]any) *Input {
	return &Input{Object: func() (map[string]any, error) { return object, nil }}
}
