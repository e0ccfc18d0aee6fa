package integration

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"graphview.dev/test/fixture"
)

// baseView is a GraphView that uses every field; each case changes one thing.
const baseView = `
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: base}
spec:
  queries:
  - exclude: {resourceSelectorExpression: "group == 'apps' && resource == 'controllerrevisions'"}
  - include:
      resourceSelectorExpression: "group in ['', 'apps', 'batch']"
      object:
        labelSelector: "app=my-app"
        fieldSelector: ""
        objectSelectorExpression: "!('legacy' in labels)"
        jsonPath: "{.status}"
  namespaces:
    names: [shop]
    labelSelector: ""
    fieldSelector: ""
    objectSelectorExpression: "true"
  roots:
    objectSelectorExpressions: ["resource == 'deployments' && name == 'web'"]
    ignoreArcDirection: [or, r, t]
  serviceAccountName: viewer
`

// specAt sets a field of the spec; a nil value removes it.
func specAt(value any, path ...string) func(t *testing.T, view map[string]any) {
	return func(t *testing.T, view map[string]any) {
		t.Helper()
		path := append([]string{"spec"}, path...)
		if value == nil {
			unstructured.RemoveNestedField(view, path...)
			return
		}
		if err := unstructured.SetNestedField(view, value, path...); err != nil {
			t.Fatal(err)
		}
	}
}

// withQuery replaces all queries by one.
func withQuery(text string) func(t *testing.T, view map[string]any) {
	return func(t *testing.T, view map[string]any) {
		t.Helper()
		specAt([]any{parseYAML(t, text)}, "queries")(t, view)
	}
}

// withObject replaces all queries by an include with this object filter.
func withObject(text string) func(t *testing.T, view map[string]any) {
	return withQuery(`{include: {resourceSelectorExpression: "true", object: ` + text + `}}`)
}

// withPart replaces a part of the spec.
func withPart(name, text string) func(t *testing.T, view map[string]any) {
	return func(t *testing.T, view map[string]any) {
		t.Helper()
		specAt(parseYAML(t, text), name)(t, view)
	}
}

// withFollow replaces the way from the roots.
func withFollow(text string) func(t *testing.T, view map[string]any) {
	return withPart("roots", `{objectSelectorExpressions: ["true"], follow: `+text+`}`)
}

func parseYAML(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func letters(n int) string { return strings.Repeat("a", n) }

func repeat(n int, element func(i int) any) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = element(i)
	}
	return out
}

func excludes(n int) []any {
	return repeat(n, func(int) any {
		return map[string]any{"exclude": map[string]any{"resourceSelectorExpression": "true"}}
	})
}

// numbered are n distinct names.
func numbered(n int) []any {
	return repeat(n, func(i int) any { return fmt.Sprintf("ns-%d", i) })
}

func copies(n int, element any) []any { return repeat(n, func(int) any { return element }) }

func TestGraphViewValidation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change    func(t *testing.T, view map[string]any)
		wantError string
	}{
		"every field": {change: func(*testing.T, map[string]any) {}},
		"no spec": {
			change:    func(_ *testing.T, view map[string]any) { delete(view, "spec") },
			wantError: `spec: Required value`,
		},

		"queries: absent":   {change: specAt(nil, "queries"), wantError: `spec.queries: Required value`},
		"queries: none":     {change: specAt([]any{}, "queries"), wantError: `spec.queries in body should have at least 1 items`},
		"queries: 64":       {change: specAt(excludes(64), "queries")},
		"queries: 65":       {change: specAt(excludes(65), "queries"), wantError: `spec.queries: Too many: 65: must have at most 64 items`},
		"query: include":    {change: withQuery(`{include: {resourceSelectorExpression: "true"}}`)},
		"query: exclude":    {change: withQuery(`{exclude: {resourceSelectorExpression: "true"}}`)},
		"query: neither":    {change: withQuery(`{}`), wantError: `a query has exactly one of include and exclude`},
		"query: misspelled": {change: withQuery(`{includes: {resourceSelectorExpression: "true"}}`), wantError: `a query has exactly one of include and exclude`},
		"query: both": {
			change:    withQuery(`{include: {resourceSelectorExpression: "true"}, exclude: {resourceSelectorExpression: "true"}}`),
			wantError: `spec.queries[0]: Invalid value: a query has exactly one of include and exclude: remove one, or make it two queries in the order in which they should be tried`,
		},

		"include: no expression": {
			change:    withQuery(`{include: {object: {labelSelector: "a=b"}}}`),
			wantError: `spec.queries[0].include.resourceSelectorExpression: Required value`,
		},
		"include: empty expression": {
			change:    withQuery(`{include: {resourceSelectorExpression: ""}}`),
			wantError: `spec.queries[0].include.resourceSelectorExpression in body should be at least 1 chars long`,
		},
		"include: long expression": {change: withQuery(`{include: {resourceSelectorExpression: ` + letters(10240) + `}}`)},
		"include: too long an expression": {
			change:    withQuery(`{include: {resourceSelectorExpression: ` + letters(10241) + `}}`),
			wantError: `spec.queries[0].include.resourceSelectorExpression: Too long: may not be more than 10240`,
		},
		"exclude: no expression": {
			change:    withQuery(`{exclude: {}}`),
			wantError: `spec.queries[0].exclude.resourceSelectorExpression: Required value`,
		},
		"exclude: empty expression": {
			change:    withQuery(`{exclude: {resourceSelectorExpression: ""}}`),
			wantError: `spec.queries[0].exclude.resourceSelectorExpression in body should be at least 1 chars long`,
		},
		"exclude: long expression": {change: withQuery(`{exclude: {resourceSelectorExpression: ` + letters(10240) + `}}`)},
		"exclude: too long an expression": {
			change:    withQuery(`{exclude: {resourceSelectorExpression: ` + letters(10241) + `}}`),
			wantError: `spec.queries[0].exclude.resourceSelectorExpression: Too long: may not be more than 10240`,
		},

		"object: empty": {
			change:    withObject(`{}`),
			wantError: `object is empty: give at least one of labelSelector, fieldSelector, objectSelectorExpression, fields and jsonPath, or leave object out`,
		},
		"object: labelSelector":                     {change: withObject(`{labelSelector: "a=b"}`)},
		"object: fieldSelector":                     {change: withObject(`{fieldSelector: "spec.nodeName=a"}`)},
		"object: objectSelectorExpression":          {change: withObject(`{objectSelectorExpression: "true"}`)},
		"object: jsonPath":                          {change: withObject(`{jsonPath: "{.status}"}`)},
		"object: empty string":                      {change: withObject(`{labelSelector: ""}`)},
		"object: long labelSelector":                {change: withObject(`{labelSelector: ` + letters(10240) + `}`)},
		"object: long fieldSelector":                {change: withObject(`{fieldSelector: ` + letters(10240) + `}`)},
		"object: long objectSelectorExpression":     {change: withObject(`{objectSelectorExpression: ` + letters(10240) + `}`)},
		"object: long jsonPath":                     {change: withObject(`{jsonPath: ` + letters(10240) + `}`)},
		"object: too long labelSelector":            {change: withObject(`{labelSelector: ` + letters(10241) + `}`), wantError: `object.labelSelector: Too long`},
		"object: too long fieldSelector":            {change: withObject(`{fieldSelector: ` + letters(10241) + `}`), wantError: `object.fieldSelector: Too long`},
		"object: too long objectSelectorExpression": {change: withObject(`{objectSelectorExpression: ` + letters(10241) + `}`), wantError: `object.objectSelectorExpression: Too long`},
		"object: too long jsonPath":                 {change: withObject(`{jsonPath: ` + letters(10241) + `}`), wantError: `object.jsonPath: Too long`},

		"namespaces: absent":       {change: specAt(nil, "namespaces")},
		"namespaces: empty":        {change: withPart("namespaces", `{}`), wantError: `spec.namespaces: Invalid value: namespaces is empty: give names, labelSelector, fieldSelector or objectSelectorExpression, or leave namespaces out to select all namespaces`},
		"namespaces: empty string": {change: withPart("namespaces", `{labelSelector: ""}`)},
		"namespaces: selectors":    {change: withPart("namespaces", `{labelSelector: "a=b", fieldSelector: "metadata.name!=c", objectSelectorExpression: "true"}`)},
		"namespaces: names and labelSelector": {
			change:    withPart("namespaces", `{names: [a], labelSelector: "a=b"}`),
			wantError: `spec.namespaces: Invalid value: names excludes labelSelector and fieldSelector: name the namespaces or select them, not both; objectSelectorExpression goes with either`,
		},
		"namespaces: names and fieldSelector": {
			change:    withPart("namespaces", `{names: [a], fieldSelector: "metadata.name!=c"}`),
			wantError: `spec.namespaces: Invalid value: names excludes labelSelector and fieldSelector`,
		},
		"namespaces: names and expression":              {change: withPart("namespaces", `{names: [a], objectSelectorExpression: "true"}`)},
		"namespaces: no names":                          {change: withPart("namespaces", `{names: []}`), wantError: `spec.namespaces.names in body should have at least 1 items`},
		"namespaces: 1024 names":                        {change: specAt(numbered(1024), "namespaces", "names")},
		"namespaces: 1025 names":                        {change: specAt(numbered(1025), "namespaces", "names"), wantError: `spec.namespaces.names: Too many: 1025: must have at most 1024 items`},
		"namespaces: twice the same":                    {change: withPart("namespaces", `{names: [a, a]}`), wantError: `spec.namespaces.names[1]: Duplicate value: "a"`},
		"namespaces: longest name":                      {change: withPart("namespaces", `{names: [`+letters(63)+`]}`)},
		"namespaces: too long a name":                   {change: withPart("namespaces", `{names: [`+letters(64)+`]}`), wantError: `spec.namespaces.names[0]: Too long: may not be more than 63`},
		"namespaces: empty name":                        {change: withPart("namespaces", `{names: [""]}`), wantError: `spec.namespaces.names[0] in body should be at least 1 chars long`},
		"namespaces: pattern":                           {change: withPart("namespaces", `{names: ["team-*"]}`), wantError: `spec.namespaces.names[0]: Invalid value: "team-*": must be the name of a namespace: lower case letters, digits and '-', no patterns; use labelSelector or objectSelectorExpression to select namespaces by what they have in common`},
		"namespaces: upper case":                        {change: withPart("namespaces", `{names: [Shop]}`), wantError: `must be the name of a namespace`},
		"namespaces: long labelSelector":                {change: withPart("namespaces", `{labelSelector: `+letters(10240)+`}`)},
		"namespaces: long fieldSelector":                {change: withPart("namespaces", `{fieldSelector: `+letters(10240)+`}`)},
		"namespaces: long objectSelectorExpression":     {change: withPart("namespaces", `{objectSelectorExpression: `+letters(10240)+`}`)},
		"namespaces: too long labelSelector":            {change: withPart("namespaces", `{labelSelector: `+letters(10241)+`}`), wantError: `spec.namespaces.labelSelector: Too long`},
		"namespaces: too long fieldSelector":            {change: withPart("namespaces", `{fieldSelector: `+letters(10241)+`}`), wantError: `spec.namespaces.fieldSelector: Too long`},
		"namespaces: too long objectSelectorExpression": {change: withPart("namespaces", `{objectSelectorExpression: `+letters(10241)+`}`), wantError: `spec.namespaces.objectSelectorExpression: Too long`},

		"roots: absent":                  {change: specAt(nil, "roots")},
		"roots: empty":                   {change: withPart("roots", `{}`), wantError: `spec.roots: Invalid value: roots needs objects or objectSelectorExpressions, which select the root objects: leave roots out to see everything`},
		"roots: only a direction":        {change: withPart("roots", `{ignoreArcDirection: [or]}`), wantError: `roots needs objects or objectSelectorExpressions`},
		"roots: no expressions":          {change: withPart("roots", `{objectSelectorExpressions: []}`)},
		"roots: empty expression":        {change: withPart("roots", `{objectSelectorExpressions: [""]}`), wantError: `spec.roots.objectSelectorExpressions[0] in body should be at least 1 chars long`},
		"roots: 64 expressions":          {change: specAt(copies(64, "true"), "roots", "objectSelectorExpressions")},
		"roots: 65 expressions":          {change: specAt(copies(65, "true"), "roots", "objectSelectorExpressions"), wantError: `spec.roots.objectSelectorExpressions: Too many: 65: must have at most 64 items`},
		"roots: long expression":         {change: specAt(copies(1, letters(10240)), "roots", "objectSelectorExpressions")},
		"roots: too long an expression":  {change: specAt(copies(1, letters(10241)), "roots", "objectSelectorExpressions"), wantError: `spec.roots.objectSelectorExpressions[0]: Too long: may not be more than 10240`},
		"object: fields":                 {change: withObject(`{fields: {phase: .status.phase, image: "{.spec.containers[*].image}"}}`)},
		"object: fields, empty":          {change: withObject(`{fields: {}}`), wantError: `object.fields in body should have at least 1 properties`},
		"object: an empty field":         {change: withObject(`{fields: {a: ""}}`), wantError: `object.fields.a in body should be at least 1 chars long`},
		"object: a bad field":            {change: withObject(`{fields: {"a b": .a}}`), wantError: `a field's name has at most 63 letters, digits, '_', '.' and '-', and begins with a letter or '_'`},
		"object: a long field":           {change: withObject(`{fields: {a: "` + letters(1025) + `"}}`), wantError: `Too long: may not be more than 1024`},
		"object: fields and parts":       {change: withObject(`{fields: {a: .a}, jsonPath: .b}`), wantError: `fields and jsonPath exclude each other: fields names what jsonPath returns as a list`},
		"roots: objects":                 {change: withPart("roots", `{objects: [{kind: Pod}, {group: "", kind: Service, namespace: shop, name: web}, {group: apps, kind: Deployment, labelSelector: "app in (a, b)"}, {labelSelector: app}, {helmRelease: pay, namespace: shop}, {argoApplication: orders}, {fluxKustomization: apps}, {fluxHelmRelease: pay}]}`)},
		"roots: objects and expressions": {change: withPart("roots", `{objects: [{kind: Pod}], objectSelectorExpressions: ["true"], ignoreArcDirection: [or]}`)},
		"roots: objects, empty":          {change: withPart("roots", `{objects: []}`), wantError: `spec.roots.objects in body should have at least 1 items`},
		"roots: an empty object":         {change: withPart("roots", `{objects: [{}]}`), wantError: `spec.roots.objects[0]: Invalid value: say in exactly one way what the object is`},
		"roots: an object in two ways":   {change: withPart("roots", `{objects: [{kind: Pod, helmRelease: pay}]}`), wantError: `say in exactly one way what the object is`},
		"roots: two tools":               {change: withPart("roots", `{objects: [{argoApplication: a, fluxHelmRelease: a}]}`), wantError: `say in exactly one way what the object is`},
		"roots: a name without kind":     {change: withPart("roots", `{objects: [{name: web, labelSelector: a}]}`), wantError: `group and name go with a kind: add kind, such as Deployment`},
		"roots: name and labels":         {change: withPart("roots", `{objects: [{kind: Pod, name: web, labelSelector: a}]}`), wantError: `name and labelSelector exclude each other`},
		"roots: no kind":                 {change: withPart("roots", `{objects: [{kind: apps/Deployment}]}`), wantError: `must be a kind, such as Deployment, without group or version`},
		"roots: a group with version":    {change: withPart("roots", `{objects: [{group: apps/v1, kind: Deployment}]}`), wantError: `must be an API group without a version, such as apps; the core group is an empty string`},
		"roots: a release's pattern":     {change: withPart("roots", `{objects: [{helmRelease: "pay-*"}]}`), wantError: `must be the name of a release, as helm list prints it`},
		"roots: a release's object":      {change: withPart("roots", `{objects: [{argoApplication: argocd/orders}]}`), wantError: `must be the name of an object: lower case letters, digits, '-' and '.', without a namespace, no patterns`},
		"roots: no direction":            {change: specAt([]any{}, "roots", "ignoreArcDirection")},
		"roots: unknown direction":       {change: specAt([]any{"owner"}, "roots", "ignoreArcDirection"), wantError: `spec.roots.ignoreArcDirection[0]: Unsupported value: "owner": supported values: "or", "r", "t"`},
		"roots: a direction twice":       {change: specAt([]any{"or", "or"}, "roots", "ignoreArcDirection"), wantError: `spec.roots.ignoreArcDirection[1]: Duplicate value: "or"`},
		"roots: too many directions":     {change: specAt([]any{"or", "r", "t", "or"}, "roots", "ignoreArcDirection"), wantError: `spec.roots.ignoreArcDirection: Too many: 4: must have at most 3 items`},

		"roots: down":                   {change: withFollow(`{direction: Down}`)},
		"roots: up, every field":        {change: withFollow(`{direction: Up, depth: 64, types: [or, r, t]}`)},
		"roots: both ways, no depth":    {change: withFollow(`{direction: Both, depth: 0, types: []}`)},
		"roots: way without direction":  {change: withFollow(`{depth: 1}`), wantError: `spec.roots.follow.direction: Required value`},
		"roots: unknown way":            {change: withFollow(`{direction: up}`), wantError: `spec.roots.follow.direction: Unsupported value: "up": supported values: "Down", "Up", "Both"`},
		"roots: negative depth":         {change: withFollow(`{direction: Up, depth: -1}`), wantError: `spec.roots.follow.depth in body should be greater than or equal to 0`},
		"roots: depth 65":               {change: withFollow(`{direction: Up, depth: 65}`), wantError: `spec.roots.follow.depth in body should be less than or equal to 64`},
		"roots: unknown type to follow": {change: withFollow(`{direction: Up, types: [x]}`), wantError: `spec.roots.follow.types[0]: Unsupported value: "x"`},
		"roots: two ways": {
			change:    withPart("roots", `{objectSelectorExpressions: ["true"], ignoreArcDirection: [or], follow: {direction: Up}}`),
			wantError: `spec.roots: Invalid value: follow and ignoreArcDirection exclude each other: follow says by its direction which references are followed against theirs`,
		},
		"roots: a way and no direction to ignore": {change: withPart("roots", `{objectSelectorExpressions: ["true"], ignoreArcDirection: [], follow: {direction: Up}}`)},

		"text: 64 KiB of all sorts":         {change: withText(8192)},
		"text: one more, in a field's path": {change: withText(8193), wantError: `expressions, selectors and paths must have at most 65536 characters together: shorten them, or write several GraphViews`},

		"serviceAccountName: absent":    {change: specAt(nil, "serviceAccountName")},
		"serviceAccountName: empty":     {change: specAt("", "serviceAccountName")},
		"serviceAccountName: dots":      {change: specAt("viewer.shop-1", "serviceAccountName")},
		"serviceAccountName: longest":   {change: specAt(letters(253), "serviceAccountName")},
		"serviceAccountName: too long":  {change: specAt(letters(254), "serviceAccountName"), wantError: `spec.serviceAccountName: Too long: may not be more than 253`},
		"serviceAccountName: user name": {change: specAt("system:serviceaccount:shop:viewer", "serviceAccountName"), wantError: `spec.serviceAccountName: Invalid value: "system:serviceaccount:shop:viewer": must be the name of a ServiceAccount in the GraphView's namespace: lower case letters, digits, '-' and '.', without a namespace or prefix`},
		"serviceAccountName: path":      {change: specAt("shop/viewer", "serviceAccountName"), wantError: `must be the name of a ServiceAccount`},
	}
	c := newClient(t)
	namespace := newNamespace(t, c)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			view := &unstructured.Unstructured{Object: parseYAML(t, baseView)}
			tt.change(t, view.Object)
			view.SetNamespace(namespace)
			err := c.Create(t.Context(), view, client.DryRunAll)
			switch {
			case tt.wantError == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.wantError != "" && err == nil:
				t.Errorf("accepted, want %q", tt.wantError)
			case tt.wantError != "" && !strings.Contains(withoutValue(err.Error()), withoutValue(tt.wantError)):
				t.Errorf("refused with %q, want %q", err, tt.wantError)
			}
		})
	}
}

// withText has 56 KiB of all text that counts, and last bytes more in the names and paths of fields.
func withText(last int) func(t *testing.T, view map[string]any) {
	return func(t *testing.T, view map[string]any) {
		t.Helper()
		long := letters(8192)
		view["spec"] = map[string]any{
			"queries": []any{
				map[string]any{"exclude": map[string]any{"resourceSelectorExpression": long}},
				map[string]any{"include": map[string]any{"resourceSelectorExpression": long, "object": map[string]any{
					"labelSelector": long, "fieldSelector": long, "objectSelectorExpression": letters(4096),
					"fields": fieldsOf(last),
				}}},
				map[string]any{"include": map[string]any{"resourceSelectorExpression": letters(2048), "object": map[string]any{"jsonPath": letters(2048)}}},
			},
			"namespaces": map[string]any{"labelSelector": letters(4096), "fieldSelector": letters(4096), "objectSelectorExpression": letters(4096)},
			"roots":      map[string]any{"objectSelectorExpressions": copies(2, letters(2048))},
		}
	}
}

// fieldsOf has that many bytes of names and paths.
func fieldsOf(n int) map[string]any {
	fields := map[string]any{}
	for i := 0; n > 0; i++ {
		size := min(n, 513)
		fields[string(rune('a'+i))] = letters(size - 1)
		n -= size
	}
	return fields
}

var refusedValue = regexp.MustCompile(`(Invalid value: )"[^"]*": `)

// withoutValue leaves out the refused value. Kubernetes 1.34 and older print the type of the value in its place.
func withoutValue(message string) string { return refusedValue.ReplaceAllString(message, "$1") }

// baseStatus is a whole status; each case changes one thing.
const baseStatus = `
observedGeneration: 1
conditions:
- {type: Ready, status: "True", reason: Ready, message: "", observedGeneration: 1, lastTransitionTime: "2026-01-01T00:00:00Z"}
resources:
- {group: apps, version: v1, resource: deployments, namespaced: true, objects: 12, synced: true, message: ""}
resourceCount: 1
vertices: 240
arcs: 611
roots: 1
subscribers: 2
warnings: ["something"]
`

func TestGraphViewStatusValidation(t *testing.T) {
	t.Parallel()
	row := func(text string) map[string]any {
		return map[string]any{"resources": []any{parseYAML(t, text)}}
	}
	tests := map[string]struct {
		// change replaces members of the status; nil removes one.
		change    map[string]any
		wantError string
	}{
		"whole":               {},
		"zero counts":         {change: map[string]any{"resourceCount": int64(0), "vertices": int64(0), "arcs": int64(0), "roots": int64(0), "subscribers": int64(0)}},
		"no resourceCount":    {change: map[string]any{"resourceCount": nil}, wantError: `status.resourceCount: Required value`},
		"no vertices":         {change: map[string]any{"vertices": nil}, wantError: `status.vertices: Required value`},
		"no arcs":             {change: map[string]any{"arcs": nil}, wantError: `status.arcs: Required value`},
		"no roots":            {change: map[string]any{"roots": nil}, wantError: `status.roots: Required value`},
		"no subscribers":      {change: map[string]any{"subscribers": nil}, wantError: `status.subscribers: Required value`},
		"negative vertices":   {change: map[string]any{"vertices": int64(-1)}, wantError: `vertices in body should be greater than or equal to 0`},
		"no lists":            {change: map[string]any{"conditions": nil, "resources": nil, "warnings": nil}},
		"10 warnings":         {change: map[string]any{"warnings": copies(10, "w")}},
		"11 warnings":         {change: map[string]any{"warnings": copies(11, "w")}, wantError: `status.warnings: Too many: 11: must have at most 10 items`},
		"long warning":        {change: map[string]any{"warnings": copies(1, letters(1024))}},
		"too long a warning":  {change: map[string]any{"warnings": copies(1, letters(1025))}, wantError: `status.warnings[0]: Too long: may not be more than 1024`},
		"resource: core":      {change: row(`{group: "", version: v1, resource: pods, namespaced: true, objects: 0, synced: false}`)},
		"resource: no group":  {change: row(`{version: v1, resource: pods, namespaced: true, objects: 0, synced: false}`), wantError: `status.resources[0].group: Required value`},
		"resource: message":   {change: row(`{group: "", version: v1, resource: pods, namespaced: true, objects: 0, synced: false, message: ` + letters(256) + `}`)},
		"resource: too long":  {change: row(`{group: "", version: v1, resource: pods, namespaced: true, objects: 0, synced: false, message: ` + letters(257) + `}`), wantError: `status.resources[0].message: Too long: may not be more than 256`},
		"resource: no synced": {change: row(`{group: "", version: v1, resource: pods, namespaced: true, objects: 0}`), wantError: `status.resources[0].synced: Required value`},
	}
	c := newClient(t)
	namespace := newNamespace(t, c)
	view := &unstructured.Unstructured{Object: parseYAML(t, baseView)}
	view.SetNamespace(namespace)
	create(t, c, view)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			changed := view.DeepCopy()
			status := parseYAML(t, baseStatus)
			for member, value := range tt.change {
				status[member] = value
				if value == nil {
					delete(status, member)
				}
			}
			changed.Object["status"] = status
			err := c.Status().Update(t.Context(), changed, client.DryRunAll)
			switch {
			case tt.wantError == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.wantError != "" && err == nil:
				t.Errorf("accepted, want %q", tt.wantError)
			case tt.wantError != "" && !strings.Contains(err.Error(), tt.wantError):
				t.Errorf("refused with %q, want %q", err, tt.wantError)
			}
		})
	}
}

func TestGraphViewColumns(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	view := &unstructured.Unstructured{Object: parseYAML(t, baseView)}
	view.SetNamespace(namespace)
	create(t, c, view)
	view.Object["status"] = parseYAML(t, baseStatus)
	if err := c.Status().Update(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	out := fixture.Kubectl(t, cluster, "get", "gv", "-n", namespace, "-o", "wide")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 {
		t.Fatalf("want a header and a row, got:\n%s", out)
	}
	if got, want := strings.Join(strings.Fields(lines[0]), " "), "NAME READY REASON EFFECTIVE HEALTH MISSING RESOURCES OBJECTS REFERENCES SUBSCRIBERS MEMORY AGE MESSAGE"; got != want {
		t.Errorf("columns %q, want %q", got, want)
	}
	if got, want := strings.Join(strings.Fields(lines[1])[:7], " "), "base True Ready 1 240 611 2"; got != want {
		t.Errorf("row %q, want %q", got, want)
	}
	if _, err := cluster.Kubectl(t.Context(), "wait", "--for=condition=Ready", "gv/base", "-n", namespace, fixture.Timeout()); err != nil {
		t.Error(err)
	}
}

// TestGraphViewDocumentation: kubectl explain describes every field.
func TestGraphViewDocumentation(t *testing.T) {
	out := fixture.Kubectl(t, cluster, "explain", "graphview.spec", "--recursive=false")
	for _, want := range []string{"queries\t", "namespaces\t", "roots\t", "serviceAccountName\t", "-required-"} {
		if !strings.Contains(out, want) {
			t.Errorf("kubectl explain graphview.spec does not have %q:\n%s", want, out)
		}
	}
}
