package graphview

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/quarantine"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/configmaps"
)

// killedDuring is the journal after processes were killed, one during each work, which
// had lasted for a minute: it is refused.
func killedDuring(t *testing.T, works ...quarantine.Work) *quarantine.Journal {
	t.Helper()
	return killedAfter(t, time.Minute, works...)
}

// suspecting is the journal after work that had lasted for a moment: it is suspected.
func suspecting(t *testing.T, works ...quarantine.Work) *quarantine.Journal {
	t.Helper()
	return killedAfter(t, quarantine.HighWater/10, works...)
}

// killedAfter keeps the files of journals as they were in the middle of the works.
func killedAfter(t *testing.T, lasted time.Duration, works ...quarantine.Work) *quarantine.Journal {
	t.Helper()
	dir := t.TempDir()
	for _, w := range works {
		now := time.Now()
		j, err := quarantine.Open(dir, now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := j.Begin(w); err != nil {
			t.Fatal(err)
		}
		j.Beat(now.Add(lasted), quarantine.Memory{})
		file := filepath.Join(dir, "journal")
		left, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, left, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j, err := quarantine.Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// TestQuarantinedSpecs: a spec that ended the process is not compiled again, until it
// changes.
func TestQuarantinedSpecs(t *testing.T) {
	declared, name := configMapsSpec(), Name{Namespace: "shop", Name: "frontend"}
	rule := spec.Rule{From: graph.Kind{Kind: "ConfigMap"}, References: []spec.RuleReference{{Path: "data.a", To: graph.Kind{Kind: "Pod"}}}}
	for what, test := range map[string]struct {
		work  quarantine.Work
		apply func(e *Engine, again bool) error
	}{
		"GraphView": {
			work: workOf(workView, name.Namespace, name.Name, declared),
			apply: func(e *Engine, again bool) error {
				next := declared
				if again {
					next.Namespaces = &spec.Namespaces{Names: []string{"shop"}}
				}
				return e.Apply(t.Context(), name, "uid", next)
			},
		},
		"Request": {
			work: workOf(workRequest, "", ownedBy("ann").String(), declared),
			apply: func(e *Engine, again bool) error {
				next := declared
				if again {
					next.Namespaces = &spec.Namespaces{Names: []string{"shop"}}
				}
				v, err := e.Open(t.Context(), OpenOptions{Spec: next, Owner: ownedBy("ann")})
				if err == nil {
					e.CloseView(v)
				}
				return err
			},
		},
		"ReferenceRule": {
			work: workOf(workRule, "", "r", rule),
			apply: func(e *Engine, again bool) error {
				next := rule
				if again {
					next.From.Kind = "Secret"
				}
				return e.ApplyRule(t.Context(), "r", next)
			},
		},
	} {
		t.Run(what, func(t *testing.T) {
			e, err := NewEngine(Options{Config: configmaps.Serve(t, 1), Quarantine: killedDuring(t, test.work)})
			if err != nil {
				t.Fatal(err)
			}
			var invalid *spec.InvalidError
			if err := test.apply(e, false); !errors.As(err, &invalid) || invalid.Reason != ReasonQuarantined {
				t.Errorf("applied again: %v", err)
			}
			if err := test.apply(e, true); err != nil {
				t.Errorf("changed: %v", err)
			}
		})
	}
}

// TestQuarantinedObject: an object that ended the process is a warning of the views
// that would have it, and the others are there.
func TestQuarantinedObject(t *testing.T) {
	e := startEngine(t, Options{
		Config:     configmaps.Serve(t, 3),
		Quarantine: killedDuring(t, quarantine.Work{Kind: "configmaps", Namespace: "shop", Name: "c1", Version: 2}),
	})
	followed := follow(t, e, yes)
	await(t, "all but one", func() bool { return followed.vertices() == 2 && followed.ready(followed.state()) })
	var lines []string
	await(t, "a warning", func() bool {
		lines = followed.view.warnings.Summary(false)
		return len(lines) > 0
	})
	if len(lines) != 1 || !strings.Contains(lines[0], "the operator was ended while it worked on this") {
		t.Errorf("warnings: %q", lines)
	}
}
