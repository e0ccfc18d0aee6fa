package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/hack/miner/mine"
)

func TestClaims(t *testing.T) {
	worlds, err := mine.Read("testdata/shop")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range worlds[0].Objects {
		for _, c := range worlds[0].Claims(o) {
			got = append(got, strings.Join([]string{o.Name, c.Path, targetsOf(&c), c.Class.String()}, " "))
		}
	}
	slices.Sort(got)
	want := []string{
		"hall spec.endpoint core/Service sure",
		"hall spec.finish light.example.org/FuelTank coincidence",
		"hall spec.fuelFrom core/Secret sure",
		"hall spec.guardedBy core/ServiceAccount sure",
		"hall spec.tankRef.name light.example.org/FuelTank sure",
		"hall spec.tankSelector selector sure",
		"keeper spec.containers[].env[].valueFrom.secretKeyRef.name core/Secret sure",
		"keeper spec.containers[].name core/Service coincidence",
		"keeper spec.volumes[].configMap.name core/ConfigMap sure",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

func TestJudgements(t *testing.T) {
	file := filepath.Join(t.TempDir(), "judgements.txt")
	text := "# why\nwrong light.example.org/Lantern *.tankRef* *\nright */* spec.finish light.example.org/FuelTank it says so\nfound core/Pod spec.* core/Secret\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := readJudgements(file)
	if err != nil {
		t.Fatal(err)
	}
	lantern := mine.Kind{Group: "light.example.org", Name: "Lantern"}
	for name, test := range map[string]struct {
		kind         mine.Kind
		path, target string
		want         verdict
	}{
		"Wrong":       {kind: lantern, path: "spec.tankRef.name", target: "light.example.org/FuelTank", want: wrong},
		"Right":       {kind: lantern, path: "spec.finish", target: "light.example.org/FuelTank", want: right},
		"OtherTarget": {kind: lantern, path: "spec.finish", target: "core/Secret"},
		"Found":       {kind: mine.Kind{Name: "Pod"}, path: "spec.a.b", target: "core/Secret", want: found},
	} {
		t.Run(name, func(t *testing.T) {
			if got := j.of(test.kind, test.path, test.target); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	if err := os.WriteFile(file, []byte("perhaps core/Pod spec.x *\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readJudgements(file); err == nil || !strings.Contains(err.Error(), ":1: expected right") {
		t.Errorf("error %v", err)
	}
}

func TestJudgementsOfTheDocs(t *testing.T) {
	if _, err := readJudgements("judgements.txt"); err != nil {
		t.Error(err)
	}
}

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"-fields", "missed,wrong,unjudged,claims", "testdata/shop"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"5 objects", "REFERENCES OF", "missed:", "claims:", "light.example.org/Lantern spec.guardedBy core/ServiceAccount"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"NoFolder":     {want: "expected folders"},
		"NoSuchFolder": {args: []string{"testdata/none"}, want: "read manifests"},
		"NoSuchFields": {args: []string{"-fields", "all", "testdata/shop"}, want: "expected missed, wrong, unjudged or claims"},
		"NoJudgements": {args: []string{"-judgements", "testdata/none", "testdata/shop"}, want: "read judgements"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(test.args, &out); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestJoins(t *testing.T) {
	for name, test := range map[string]struct {
		a, b string
		want bool
	}{
		"Same":      {a: "spec.x[].name", b: "spec.x[].name", want: true},
		"Object":    {a: "spec.x[]", b: "spec.x[].name", want: true},
		"Other":     {a: "spec.x.name", b: "spec.y.name"},
		"Map":       {a: "spec.x{}.name", b: "spec.x['a.b'].name", want: true},
		"Beginning": {a: "spec.xy", b: "spec.x"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := joins(test.a, test.b); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
