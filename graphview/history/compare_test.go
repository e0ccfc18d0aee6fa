package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// object returns compact JSON, as a watch retains it.
func object(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func lines(paths []Path) (all []string) {
	for _, p := range paths {
		all = append(all, fmt.Sprintf("%s %s %s>%s", [...]string{"changed", "added", "removed"}[p.Op], p.Path, p.Before, p.After))
	}
	return all
}

func TestCompare(t *testing.T) {
	const pod = `{"kind":"Pod","metadata":{"labels":{"app":"web"},"annotations":{"a.dev/b":"1"},"generation":1,"resourceVersion":"1"},
		"spec":{"containers":[{"name":"web","image":"web:1","env":[{"name":"A","value":"1"}],"args":["-x"]},{"name":"log"}],"replicas":2},"status":{"phase":"Pending"}}`
	for name, test := range map[string]struct {
		kind, before, after string
		want                []string
	}{
		"nothing":      {"Pod", pod, pod, nil},
		"status alone": {"Pod", pod, strings.ReplaceAll(pod, "Pending", "Running"), nil},
		"an image":     {"Pod", pod, strings.ReplaceAll(pod, "web:1", "web:2"), []string{"changed spec.containers[web].image web:1>web:2"}},
		"replicas":     {"Pod", pod, strings.ReplaceAll(pod, `"replicas":2`, `"replicas":3`), []string{"changed spec.replicas 2>3"}},
		"a label and an annotation": {
			"Pod", pod, strings.NewReplacer(`"app":"web"`, `"app.dev/x":"web"`, `"a.dev/b":"1"`, `"a.dev/b":"2"`).Replace(pod),
			[]string{"changed metadata.annotations[a.dev/b] >", "added metadata.labels[app.dev/x] >", "removed metadata.labels[app] >"},
		},
		"an environment variable and an argument": {
			"Pod", pod, strings.NewReplacer(`"value":"1"`, `"value":"2"`, `"-x"`, `"-y"`).Replace(pod),
			[]string{"changed spec.containers[web].args[0] >", "changed spec.containers[web].env[A].value >"},
		},
		"a container goes":    {"Pod", pod, strings.ReplaceAll(pod, `,{"name":"log"}`, ""), []string{"removed spec.containers[log] >"}},
		"keys of a ConfigMap": {"ConfigMap", `{"data":{"a.json":"1","image":"x","b":"1"}}`, `{"data":{"a.json":"2","image":"y","c":"1"}}`, []string{"changed data.a.json >", "removed data.b >", "added data.c >", "changed data.image >"}},
		"values of a release": {"HelmRelease", `{"spec":{"chart":{"version":"1"},"values":{"image":"a","replicas":1}}}`, `{"spec":{"chart":{"version":"2"},"values":{"image":"b","replicas":2}}}`, []string{"changed spec.chart.version 1>2", "changed spec.values.image >", "changed spec.values.replicas >"}},
		"the credentials of a URL": {
			"X", `{"spec":{"image":"https://me:pw@a.dev/x","chart":"oci://a.dev/web","tag":"x","b":{"image":"https://a.dev/x?token=pw"},"c":{"image":"me:pw@a.dev/x@sha256:0"},"d":{"image":"a.dev:5000/x@sha256:0"}}}`,
			`{"spec":{"image":"https://me:pwd@a.dev/x","chart":"oci://a.dev/api","tag":"y","b":{"image":"https://a.dev/x?token=pwd"},"c":{"image":"me:pwd@a.dev/x@sha256:0"},"d":{"image":"a.dev:5000/x@sha256:1"}}}`,
			[]string{
				"changed spec.b.image >", "changed spec.c.image >", "changed spec.chart oci://a.dev/web>oci://a.dev/api",
				"changed spec.d.image a.dev:5000/x@sha256:0>a.dev:5000/x@sha256:1", "changed spec.image >", "changed spec.tag x>y",
			},
		},
		"names below values": {
			"HelmRelease", `{"spec":{"values":{"tokens":[{"name":"pw","b":1}],"env":[{"name":"A","b":1}]}}}`, `{"spec":{"values":{"tokens":[{"name":"pw","b":2}],"env":[{"name":"A","b":2}]}}}`,
			[]string{"changed spec.values.env[A].b >", "changed spec.values.tokens[0].b >"},
		},
		"the renewal of a Lease":     {"Lease", `{"spec":{"renewTime":"1"}}`, `{"spec":{"renewTime":"2"}}`, nil},
		"elements without names":     {"X", `{"spec":{"rules":[{"host":"a"},{"host":"b"}]}}`, `{"spec":{"rules":[{"host":"a"},{"host":"c"}]}}`, []string{"changed spec.rules[1].host >"}},
		"a scalar becomes an object": {"X", `{"spec":{"image":"a"}}`, `{"spec":{"image":{"tag":"b"}}}`, []string{"changed spec.image a>"}},
	} {
		t.Run(name, func(t *testing.T) {
			paths, more := Compare(test.kind, object(t, test.before), object(t, test.after))
			if d := cmp.Diff(test.want, lines(paths)); d != "" || more != 0 {
				t.Errorf("%d more, -want +got:\n%s", more, d)
			}
		})
	}
}

// TestCompareKeepsNoSecrets: no value of an object of any of these places is in the answer, whatever the
// fields are called.
func TestCompareKeepsNoSecrets(t *testing.T) {
	for _, place := range []string{
		`{"data":{"image":%q}}`, `{"stringData":{"replicas":%q}}`, `{"binaryData":{"version":%q}}`, `{"spec":{"containers":[{"name":"a","env":[{"name":"version","value":%q}]}]}}`,
		`{"spec":{"containers":[{"name":"a","command":[%q]}]}}`, `{"spec":{"containers":[{"name":"a","args":["--version",%q]}]}}`,
		`{"metadata":{"annotations":{"version":%q}}}`, `{"spec":{"values":{"image":{"tag":%q}}}}`, `{"spec":{"parameters":[{"name":"image","value":%q}]}}`, `{"spec":{"password":%q}}`,
		`{"spec":{"source":{"helm":{"valuesObject":{"image":%q}}}}}`, `{"spec":{"config":{"version":%q}}}`, `{"spec":{"settings":{"version":%q}}}`,
		`{"spec":{"credentials":{"version":%q}}}`, `{"spec":{"secret":{"version":%q}}}`, `{"spec":{"containers":[{"name":"a","envFrom":[{"version":%q}]}]}}`,
	} {
		for _, kind := range []string{"Pod", "ConfigMap", "Secret", "HelmRelease"} {
			paths, _ := Compare(kind, object(t, fmt.Sprintf(place, "canary-1")), object(t, fmt.Sprintf(place, "canary-2")))
			if text := strings.Join(lines(paths), "\n"); strings.Contains(text, "canary") || len(paths) == 0 {
				t.Errorf("%s of a %s: %s", place, kind, text)
			}
		}
	}
}

// TestComparePrints: a terminal can print the path and the values of a change.
func TestComparePrints(t *testing.T) {
	paths, _ := Compare("Pod", []byte(`{"spec":{}}`), object(t, `{"spec":{"a\u001b[2J\u007f\ufffd":1}}`))
	if got := lines(paths); len(got) != 1 || !strings.Contains(got[0], "[a?[2J??]") {
		t.Errorf("%q", got)
	}
	for _, image := range []string{`web\u001b`, `w\u00e9b`, `web\u007f`} {
		const of = `{"spec":{"containers":[{"name":"web","image":"%s"}]}}`
		paths, _ := Compare("Pod", object(t, fmt.Sprintf(of, "web")), object(t, fmt.Sprintf(of, image)))
		if len(paths) != 1 || paths[0].Before != "web" || paths[0].After != "" {
			t.Errorf("%s: %q", image, lines(paths))
		}
	}
}

// TestCompareIsBounded: an object with very many fields costs and keeps little.
func TestCompareIsBounded(t *testing.T) {
	wide := map[string]string{}
	for i := range 100_000 {
		wide[fmt.Sprint("key-", i, strings.Repeat("x", 300), "\x1b\n")] = "a"
	}
	text, err := json.Marshal(map[string]any{"spec": wide})
	if err != nil {
		t.Fatal(err)
	}
	paths, more := Compare("X", []byte(`{"spec":{}}`), text)
	if len(paths) != maxPaths || more != maxCounted-maxPaths {
		t.Errorf("%d paths and %d more", len(paths), more)
	}
	for _, p := range paths {
		if len(p.Path) > maxPathBytes || strings.ContainsAny(p.Path, "\x1b\n") {
			t.Errorf("%q", p.Path)
		}
	}
	deep := func(leaf string) []byte {
		return []byte(`{"spec":` + strings.Repeat(`{"a":`, 10_000) + leaf + strings.Repeat("}", 10_000) + "}")
	}
	if paths, more := Compare("X", deep("1"), deep("2")); len(paths) != 0 || more != 0 {
		t.Errorf("%v and %d more, too deep", paths, more)
	}
}

// TestCompareOfLongKeys: fields below a long key take no copy of it each.
func TestCompareOfLongKeys(t *testing.T) {
	key := strings.Repeat("k", 200_000)
	for name, field := range map[string]string{"members": `"f%[1]d":%[2]d`, "elements": `{"name":"f%[1]d","v":%[2]d}`} {
		t.Run(name, func(t *testing.T) {
			version := func(value int) []byte {
				all := make([]string, 2_000)
				for i := range all {
					all[i] = fmt.Sprintf(field, i, value)
				}
				brackets := map[string]string{"members": "{%s}", "elements": "[%s]"}[name]
				return fmt.Appendf(nil, `{"spec":{"x":{"%s":`+brackets+`}}}`, key, strings.Join(all, ","))
			}
			before, after := version(1), version(2)
			var begun, ended runtime.MemStats
			runtime.ReadMemStats(&begun)
			paths, more := Compare("X", before, after)
			runtime.ReadMemStats(&ended)
			if bytes := ended.TotalAlloc - begun.TotalAlloc; bytes > 50<<20 {
				t.Errorf("%d MB were allocated", bytes>>20)
			}
			if len(paths) != maxPaths || more != maxCounted-maxPaths || paths[0].Path != "spec.x."+key[:maxPathBytes-10]+"..." {
				t.Errorf("%d paths and %d more, the first is %q", len(paths), more, paths[0].Path)
			}
		})
	}
}
