package health

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"graphview.dev/test/env"
)

// verdict is what the peers say of one object. A status is empty where a peer does
// not know the kind.
type verdict struct {
	ArgoCD  struct{ Status, Message string }
	KStatus struct{ Status, Message string }
}

type specimen struct {
	Name   string         `json:"name"`
	Object map[string]any `json:"object"`
}

// peers is the built program that asks kstatus and Argo CD.
type peers struct{ program, dir string }

func buildPeers(t *testing.T) peers {
	t.Helper()
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	p := peers{filepath.Join(t.TempDir(), "health"), filepath.Join(root, "hack", "health")}
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", p.program, ".")
	build.Dir = p.dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

func (p peers) run(t *testing.T, into, input any, args ...string) {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), p.program, args...)
	command.Dir = p.dir
	command.Stdin = bytes.NewReader(text)
	command.WaitDelay = time.Second
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.Bytes())
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatal(err)
	}
}

// corpus is the objects that the peers test themselves with.
func (p peers) corpus(t *testing.T) (all []specimen) {
	t.Helper()
	p.run(t, &all, nil, "corpus")
	if len(all) < 80 {
		t.Fatalf("the corpus has %d objects", len(all))
	}
	return all
}

func (p peers) judge(t *testing.T, all []specimen) (verdicts []verdict) {
	t.Helper()
	objects := make([]map[string]any, len(all))
	for i := range all {
		objects[i] = all[i].Object
	}
	p.run(t, &verdicts, objects)
	if len(verdicts) != len(all) {
		t.Fatalf("%d verdicts of %d objects", len(verdicts), len(all))
	}
	return verdicts
}
