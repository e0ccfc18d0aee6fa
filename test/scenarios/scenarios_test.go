package scenarios

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"sigs.k8s.io/yaml"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
	"graphview.dev/stream"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/workload"
)

// pollInterval is between two looks at something that is expected to happen.
const pollInterval = 10 * time.Millisecond

// TestScenarios shows each rule.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios (%v)", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := parseScenario(text)
			if err != nil {
				t.Fatal(err)
			}
			newRunner(t, name, s.options).run(t, s)
		})
	}
}

// runner plays one scenario.
type runner struct {
	*place
	engine *graphview.Engine
	name   graphview.Name
	rules  map[string]bool // names of those that the engine has been told of
	// refused is why the engine did not take the last view.
	refused error
	// current follows the view from the start; nil before it and after its
	// subscription ended.
	current *follower
	// returning is away between the steps, and continues where it was.
	returning *follower
}

func newRunner(t *testing.T, name string, o options) *runner {
	t.Helper()
	r := &runner{place: newPlace(t, name), name: graphview.Name{Namespace: "scenarios", Name: name}}
	r.port = func() int { return startBackend(t, r.group) }
	config := plane.Config()
	if o.As != "" {
		config = plane.ClientConfig(r.user)
	}
	var timeout time.Duration
	if o.SyncTimeout != "" {
		var err error
		if timeout, err = time.ParseDuration(o.SyncTimeout); err != nil {
			t.Fatal(err)
		}
	}
	engine, err := graphview.NewEngine(graphview.Options{
		Config: config, Logger: testr.New(t), MaxVertices: o.MaxVertices, SyncTimeout: timeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.engine = engine
	fixture.Start(t, engine.Run)
	return r
}

func (r *runner) run(t *testing.T, s scenario) {
	t.Helper()
	defer func() {
		if r.current != nil {
			r.current.stop()
		}
	}()
	for _, p := range s.steps {
		for _, c := range p.sections {
			if why := r.play(t, p, c); why != "" {
				t.Fatalf("%s: %s", c.name(p.number), why)
			}
		}
		if r.refused != nil && !p.has("error") {
			t.Fatalf("view-%d.yaml: %v", p.number, r.refused)
		}
	}
}

// play does what one section says and returns what went wrong.
func (r *runner) play(t *testing.T, p step, c section) string {
	t.Helper()
	var err error
	switch c.verb {
	case "view":
		err = r.setView(t.Context(), c.text)
	case "rules":
		err = r.setRules(t.Context(), c.text)
	case "apply", "touch", "delete":
		err = r.change(t.Context(), c)
	case "want":
		return r.want(t.Context(), parseLines(c.text), !p.has("actions"))
	case "actions":
		want := parseLines(c.text)
		var why string
		failed := fixture.Wait(t.Context(), within, pollInterval, func() string {
			var final bool
			if why, final = r.current.wasSent(want, r.rendered); final {
				return ""
			}
			return why
		})
		return cmp.Or(failed, why)
	case "status":
		want := parseLines(c.text)
		return fixture.Wait(t.Context(), within, pollInterval, func() string { return r.status(want) })
	case "error":
		want := parseLines(c.text)
		why := fixture.Wait(t.Context(), within, pollInterval, func() string { return differ(want, r.rendered(r.current.end())) })
		r.current, r.refused = nil, nil
		return why
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func (r *runner) change(ctx context.Context, c section) error {
	objects, err := r.objects(c.text)
	if err != nil {
		return err
	}
	for _, o := range objects {
		switch c.verb {
		case "apply":
			err = r.apply(ctx, o, author)
		case "touch":
			err = r.apply(ctx, o, stranger)
		case "delete":
			err = r.remove(ctx, o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setView gives the engine a GraphView's spec. The first time, and after its
// subscription ended, it subscribes.
func (r *runner) setView(ctx context.Context, text string) error {
	text, err := r.fill(text)
	if err != nil {
		return err
	}
	declared, err := parseSpec(text)
	if err != nil {
		return err
	}
	r.refused = r.engine.Apply(ctx, r.name, "uid-"+r.name.Name, declared)
	if r.current == nil && r.refused == nil {
		r.current = follow(ctx, r.view(), nil)
	}
	return nil
}

// parseSpec reads a spec as the API server would: no unknown field is let
// through. The oracle's words for it are those of the manifest.
func parseSpec(text string) (v1alpha1.GraphViewSpec, error) {
	var typed v1alpha1.GraphViewSpec
	if err := yaml.UnmarshalStrict([]byte(text), &typed); err != nil {
		return v1alpha1.GraphViewSpec{}, fmt.Errorf("parse spec: %w", err)
	}
	manifest, err := json.Marshal(map[string]any{"spec": typed})
	if err != nil {
		return v1alpha1.GraphViewSpec{}, fmt.Errorf("parse spec: %w", err)
	}
	view, err := oracle.ParseView(manifest)
	if err != nil {
		return v1alpha1.GraphViewSpec{}, err
	}
	return workload.Spec(view)
}

// setRules makes the ReferenceRules those of a text. Why the engine does not take
// one is for the step to expect.
func (r *runner) setRules(ctx context.Context, text string) error {
	manifests, err := r.objects(text)
	if err != nil {
		return err
	}
	before := r.rules
	r.rules = make(map[string]bool)
	for _, manifest := range manifests {
		text, err := manifest.MarshalJSON()
		if err != nil {
			return fmt.Errorf("read rules: %w", err)
		}
		var typed v1alpha1.ReferenceRule
		if err := yaml.UnmarshalStrict(text, &typed); err != nil {
			return fmt.Errorf("read rules: %w", err)
		}
		read, err := oracle.ParseRule(text)
		if err != nil {
			return err
		}
		rule, err := workload.Rule(read)
		if err != nil {
			return err
		}
		name := manifest.GetName()
		r.rules[name] = true
		invalid := (*spec.InvalidError)(nil)
		if err := r.engine.ApplyRule(ctx, name, rule); err != nil && !errors.As(err, &invalid) {
			return err
		}
	}
	for name := range before {
		if !r.rules[name] {
			r.engine.RemoveRule(name)
		}
	}
	return nil
}

func (r *runner) view() stream.View {
	v, _ := stream.Of(r.engine).Find(r.name)
	return v
}

// want waits until three subscribers have the same graph: the current one, another one
// resuming from the last want, and a new one.
func (r *runner) want(ctx context.Context, want []line, forget bool) string {
	if why := fixture.Wait(ctx, within, pollInterval, func() string { return r.current.hasGraph(want, forget, r.rendered) }); why != "" {
		return why
	}
	joined := follow(ctx, r.view(), nil)
	defer joined.stop()
	r.returning = follow(ctx, r.view(), r.returning)
	defer r.returning.stop()
	for who, f := range map[string]*follower{"joined now": joined, "came back now": r.returning} {
		if why := fixture.Wait(ctx, within, pollInterval, func() string { return f.hasGraph(want, false, r.rendered) }); why != "" {
			return fmt.Sprintf("a subscriber who %s: %s", who, why)
		}
	}
	return ""
}

func (r *runner) status(want []line) string {
	var got []line
	for _, row := range r.view().Status().Resources {
		got = append(got, statusLine(row))
	}
	return differ(want, r.rendered(got))
}
