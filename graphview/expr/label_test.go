package expr

import "testing"

// A label or annotation that is absent equals nothing, and is no failure.
func TestAbsentLabels(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"labels.app == 'web'":                            true,
		"labels.nope == 'web'":                           false,
		"labels['nope'] == 'web'":                        false,
		"labels['no' + 'pe'] == name":                    false,
		"'web' == labels.nope":                           false,
		"labels.nope != 'web'":                           true,
		"labels.app != 'web'":                            false,
		"labels.nope in ['web']":                         false,
		"!(labels.nope in ['web', name])":                true,
		"labels.app in [name]":                           true,
		"annotations.nope == 'x' || labels.nope != ''":   true,
		"annotations.note == '1Gi'":                      true,
		"labels.nope == '' && true":                      false,
		"'app' in labels && !('nope' in labels)":         true,
		"has(labels.app) && !has(labels.nope)":           true,
		"has(labels.nope) == false":                      true,
		"labels[?'nope'].orValue('none') == 'none'":      true,
		"labels.size() == 2 && labels.all(k, k != '')":   true,
		"labels.exists(k, labels[k] == 'web')":           true,
		"[{'x': 'y'}].all(labels, labels.x == 'y')":      true,
		"kind == 'Deployment' && kind in ['Deployment']": true,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			s, err := CompileObject(t.Context(), nil, text)
			if err != nil {
				t.Fatal(err)
			}
			in := input()
			in.Kind = "Deployment"
			if got, err := s.Matches(t.Context(), in); err != nil || got != want {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		})
	}
	// Others do fail: a label's value is asked for, or another map's.
	for _, text := range []string{
		"labels.nope.startsWith('a')", "obj.metadata.labels.nope == 'a'", "[{'x': 'y'}].all(labels, labels.nope == 'y')",
	} {
		s, err := CompileObject(t.Context(), nil, text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Matches(t.Context(), input()); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
