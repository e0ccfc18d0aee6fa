//go:build !race

package expr

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

func FuzzCompileObject(f *testing.F) {
	for _, text := range []string{
		"true",
		"resource == 'deployments' && name == 'web' && 'app' in labels",
		"obj.spec.replicas > 2 && namespace != ''",
		"obj.spec.items.exists(i, i == 'b')",
		"obj.?spec.text.optMap(t, t.size() > 3).orValue(false)",
		"obj.spec.text.replace('h', obj.spec.text).matches('(a{3}){2}')",
		"quantity(obj.spec.text).sign() == 1",
		"[[1]].map(a, [a, a]).all(z, z == z)",
		"((((",
		"{'a': 1}.transformMap(k, v, v + 1).size() == 1",
	} {
		f.Add(text)
	}
	for _, text := range attacks() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spends(t, func() {
			s, err := CompileObject(t.Context(), nil, text)
			evaluate(t, text, err, func(ctx context.Context, in *Input) error {
				_, err := s.Matches(ctx, in)
				return err
			})
		})
	})
}

func FuzzCompileResource(f *testing.F) {
	for _, text := range []string{"true", "group in ['', 'apps'] && resource != 'secrets'", "version.matches('^v[0-9]+$') && namespaced", "group == 1", "'", "resource[0]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spends(t, func() {
			s, err := CompileResource(t.Context(), nil, text)
			if err != nil {
				checkMessage(t, text, message(t, err))
				return
			}
			if _, _, err := s.Matches(t.Context(), deployments); err != nil {
				checkMessage(t, text, err.Error())
			}
		})
	})
}

func FuzzLabelSelector(f *testing.F) {
	for _, text := range []string{"", "app=web", "env in (a, b), !legacy", "a>5", "a in (", "a=@", ",,"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spends(t, func() {
			if s, err := ParseLabelSelector(text); err == nil {
				s.Matches(labels.Set{"app": "web"})
			} else {
				checkMessage(t, text, message(t, err))
			}
			if _, err := ParseFieldSelector(text); err != nil {
				checkMessage(t, text, message(t, err))
			}
		})
	})
}

func FuzzJSONPath(f *testing.F) {
	for _, text := range []string{
		"{.status}", "status", "{..name}", "{.spec.containers[?(@.name=='log')].image}", "{range .spec.containers[*]}{.name}{end}",
		"{.spec.containers[0:2:1]['name','image']}", "{.a[", "{end}", `{"\n"}`, "{.spec.containers[-1:]}", "{.*.*}", strings.Repeat("{.wide}", 1000), strings.Repeat("{range .*}", 8) + "{..*}" + strings.Repeat("{end}", 8),
		"{..*}{..*}{..text}", "{['a', ]}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseJSONPath(text)
		if err != nil {
			checkMessage(t, text, message(t, err))
			return
		}
		object := pod()
		object["secret"] = secret
		spends(t, func() {
			// The result for a large object does not matter.
			_, _ = p.Find(t.Context(), &Input{Object: func() (map[string]any, error) { return hostileObject, nil }})
		})
		in := &Input{Object: func() (map[string]any, error) { return object, nil }}
		found, err := p.Find(t.Context(), in)
		if err != nil {
			checkMessage(t, text, err.Error())
			return
		}
		var nodes []any
		if err := json.Unmarshal(found, &nodes); err != nil {
			t.Errorf("%s is no JSON array: %v", found, err)
		}
		again, err := p.Find(t.Context(), inParts(t, object))
		if err != nil || string(again) != string(found) {
			t.Errorf("found %s, then %s, %v", found, again, err)
		}
	})
}

// evaluate runs what a text was compiled to, unless it was refused, and looks at
// the message in either case.
func evaluate(t *testing.T, text string, refused error, run func(context.Context, *Input) error) {
	t.Helper()
	if refused != nil {
		checkMessage(t, text, message(t, refused))
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	in := input()
	in.Object = func() (map[string]any, error) { return hostileObject, nil }
	err := run(ctx, in)
	if err == nil {
		return
	}
	if failed := (*EvaluationError)(nil); !errors.As(err, &failed) {
		t.Errorf("error is a %T: %v", err, err)
	}
	checkMessage(t, text, err.Error())
}

// checkMessage fails for a message that is not one short line, or tells about
// the object.
func checkMessage(t *testing.T, text, message string) {
	t.Helper()
	if message == "" || strings.ContainsAny(message, "\n\r\x1b") {
		t.Errorf("message is not one line: %q", message)
	}
	if len(message) > 5_000 {
		t.Errorf("message has %d bytes", len(message))
	}
	if strings.Contains(message, secret) && !strings.Contains(text, secret) {
		t.Errorf("message contains a value: %s", message)
	}
}
