package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/installation"
	"graphview.dev/test/patience"
)

// TestRelease: what a release has is complete, says of itself what is true, and does
// the main job where it was installed from registries alone.
func TestRelease(t *testing.T) {
	p := publish(t)
	t.Run("files", p.testFiles)
	t.Run("provenance", p.testProvenance)
	manifests := p.helm(t, "template", "graphview", "oci://"+p.registry+"/charts/graphview", "--version", version[1:], "--plain-http",
		"--namespace", env.ServiceNamespace, "--skip-tests", "--set", "view.enabled=false")
	objects, err := env.Objects(manifests)
	if err != nil {
		t.Fatal(err)
	}
	deployment := installation.Find(objects, "Deployment", "graphview-manager")
	if image := p.registry + "/manager:" + version; deployment == nil || !strings.Contains(manifests, `image: "`+image+`"`) {
		t.Fatalf("the chart's image is not %s:\n%s", image, manifests)
	}
	plane := env.StartT(t, env.Options{ControllerManager: true})
	operator, err := installation.Start(t.Context(), installation.Options{Plane: plane, Binary: p.pullManager(t), Manifests: []byte(manifests)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience.For(30*time.Second))
		defer cancel()
		operator.Stop(ctx)
	})
	fixture.Kubectl(t, plane, "apply", "-k", filepath.Join(p.root, "config", "samples"))
	fixture.Kubectl(t, plane, "wait", "--for=condition=Ready", "-n", "shop", "graphview/storefront", fixture.Timeout())
	fixture.Kubectl(t, plane, "wait", "--for=condition=Available", "apiservice/v1alpha1.stream.graphview.dev", fixture.Timeout())
	t.Run("plugin", func(t *testing.T) { p.testPlugin(t, plane) })
	t.Run("manifests", func(t *testing.T) {
		fixture.Kubectl(t, plane, "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", p.files+"/"+version+"/install.yaml")
		text := string(get(t, p.files+"/"+version+"/install.yaml"))
		if !strings.Contains(text, "image: "+p.registry+"/manager:"+version+"\n") {
			t.Error("install.yaml has not the image of the release")
		}
	})
}

// testFiles: they are all there, and have the checksums that are said.
func (p *published) testFiles(t *testing.T) {
	platform := runtime.GOOS + "_" + runtime.GOARCH
	wanted := []string{
		"crds.yaml", "graph-view.js", "graphview-chart-" + version[1:] + ".tgz", "graphview-image-" + version + ".tar", "graphview-npm-" + version[1:] + ".tgz",
		"graphview.yaml", "install.yaml", "kubectl-graphview_" + platform + ".cdx.json", "kubectl-graphview_" + version + "_" + platform + ".tar.gz",
		"manager_linux_" + runtime.GOARCH + ".cdx.json", "provenance.intoto.json", "tags.txt",
	}
	var summed []string
	for line := range strings.Lines(string(get(t, p.files+"/"+version+"/checksums.txt"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := digest(get(t, p.files+"/"+version+"/"+name)); got != sum {
			t.Errorf("%s has the checksum %s, and checksums.txt says %s", name, got, sum)
		}
		summed = append(summed, name)
	}
	if !slices.Equal(summed, wanted) {
		t.Errorf("got  %q\nwant %q", summed, wanted)
	}
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// testProvenance: the statement is about the files, from this commit, and bills of
// materials name modules.
func (p *published) testProvenance(t *testing.T) {
	var statement struct {
		Subject []struct {
			Name   string
			Digest struct{ SHA256 string }
		}
		Predicate struct {
			BuildDefinition struct {
				ExternalParameters   map[string]map[string]string
				ResolvedDependencies []struct{ Digest struct{ GitCommit string } }
			}
		}
	}
	if err := json.Unmarshal(get(t, p.files+"/"+version+"/provenance.intoto.json"), &statement); err != nil {
		t.Fatal(err)
	}
	if len(statement.Subject) < 10 {
		t.Errorf("%d subjects", len(statement.Subject))
	}
	for _, subject := range statement.Subject {
		content, err := os.ReadFile(filepath.Join(p.dir, subject.Name))
		if err != nil || digest(content) != subject.Digest.SHA256 {
			t.Errorf("%s: %v, or another digest", subject.Name, err)
		}
	}
	build := statement.Predicate.BuildDefinition
	if got := build.ExternalParameters["manager_linux_"+runtime.GOARCH]["GOARCH"]; got != runtime.GOARCH {
		t.Errorf("the operator was built for %q", got)
	}
	commit := strings.TrimSpace(p.run(t, p.root, "git", "rev-parse", "HEAD"))
	if sources := build.ResolvedDependencies; len(sources) != 1 || sources[0].Digest.GitCommit != commit {
		t.Errorf("built from %+v, not from %s", sources, commit)
	}
	var materials struct {
		Metadata   struct{ Component struct{ Version string } }
		Components []struct{ Name string }
	}
	if err := json.Unmarshal(get(t, p.files+"/"+version+"/manager_linux_"+runtime.GOARCH+".cdx.json"), &materials); err != nil {
		t.Fatal(err)
	}
	if materials.Metadata.Component.Version != version || len(materials.Components) < 20 {
		t.Errorf("the bill of materials is of %s and has %d components", materials.Metadata.Component.Version, len(materials.Components))
	}
	if got, want := string(get(t, p.files+"/"+version+"/tags.txt")), fmt.Sprintf("git tag %s %s\n", version, commit); got != want {
		t.Errorf("tags.txt: %q, want %q", got, want)
	}
}

// pullManager takes the operator out of the image, as a node's runtime does.
func (p *published) pullManager(t *testing.T) string {
	t.Helper()
	host, path, _ := strings.Cut(p.registry, "/")
	repository := "http://" + host + "/v2/" + path + "/manager/"
	type descriptor struct {
		Digest   string
		Platform struct{ OS, Architecture string }
	}
	var index, manifest struct{ Manifests, Layers []descriptor }
	read := func(url string, into any) {
		t.Helper()
		if err := json.Unmarshal(get(t, url), into); err != nil {
			t.Fatal(err)
		}
	}
	read(repository+"manifests/"+version, &index)
	if len(index.Manifests) != 1 || index.Manifests[0].Platform.OS != "linux" || index.Manifests[0].Platform.Architecture != runtime.GOARCH {
		t.Fatalf("the image is for %+v", index.Manifests)
	}
	read(repository+"manifests/"+index.Manifests[0].Digest, &manifest)
	return unpack(t, get(t, repository+"blobs/"+manifest.Layers[0].Digest), "manager")
}

// unpack is the path of a program of a .tar.gz, whose folder has all of it.
func unpack(t *testing.T, archive []byte, program string) string {
	t.Helper()
	dir := t.TempDir()
	command := exec.CommandContext(t.Context(), "tar", "-xz", "-C", dir)
	command.Stdin = bytes.NewReader(archive)
	fixture.MustRun(t, command)
	return filepath.Join(dir, program)
}

// testPlugin installs it as krew does, and asks it for a tree.
func (p *published) testPlugin(t *testing.T, plane *env.ControlPlane) {
	var manifest struct {
		Metadata struct{ Name string }
		Spec     struct {
			Version, ShortDescription string
			Platforms                 []struct {
				Selector         struct{ MatchLabels map[string]string }
				URI, SHA256, Bin string
			}
		}
	}
	if err := yaml.UnmarshalStrict(without(t, get(t, p.files+"/"+version+"/graphview.yaml")), &manifest); err != nil {
		t.Fatal(err)
	}
	spec := manifest.Spec
	if manifest.Metadata.Name != "graphview" || spec.Version != version || len(spec.Platforms) != 1 || len(spec.ShortDescription) > 50 {
		t.Fatalf("krew's manifest is %+v", manifest)
	}
	platform := spec.Platforms[0]
	if labels := platform.Selector.MatchLabels; labels["os"] != runtime.GOOS || labels["arch"] != runtime.GOARCH {
		t.Fatalf("the plugin is for %v", labels)
	}
	archive := get(t, platform.URI)
	if digest(archive) != platform.SHA256 {
		t.Fatalf("%s has another checksum than krew's manifest says", platform.URI)
	}
	folder := filepath.Dir(unpack(t, archive, platform.Bin))
	run := func(program string, args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), program, args...)
		command.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "KUBECONFIG="+filepath.Join(plane.Dir(), "kubeconfig"))
		return fixture.MustRun(t, command)
	}
	if got := run(plane.KubectlPath(), "graphview", "--version"); !strings.Contains(got, version) {
		t.Errorf("the plugin says that it is %s", got)
	}
	if got := run(plane.KubectlPath(), "graphview", "tree", "storefront", "-n", "shop"); !strings.Contains(got, "Deployment/web") || !strings.Contains(got, "mounts ConfigMap/web") {
		t.Errorf("the tree is\n%s", got)
	}
	if got := run(filepath.Join(folder, "kubectl_complete-graphview"), "tree", "-n", "shop", "s"); !strings.HasPrefix(got, "storefront\n") {
		t.Errorf("completed is\n%s", got)
	}
}

// without is krew's manifest without what is for people, so that the rest can be
// read strictly.
func without(t *testing.T, manifest []byte) []byte {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal(manifest, &object); err != nil {
		t.Fatal(err)
	}
	delete(object, "apiVersion")
	delete(object, "kind")
	spec := object["spec"].(map[string]any)
	for _, key := range []string{"homepage", "description", "caveats"} {
		if spec[key] == "" || spec[key] == nil {
			t.Errorf("krew's manifest has no %s", key)
		}
		delete(spec, key)
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
