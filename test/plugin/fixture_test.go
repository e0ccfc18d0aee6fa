package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// namespace is that of testdata/shop.yaml.
const namespace = "plugin-shop"

// within bounds everything that is waited for. It is no expectation.
const within = 2 * time.Minute

// install applies the kinds of other tools, which all tests see, and testdata/shop.yaml,
// and waits until controllers have made of it what they will.
func install(ctx context.Context) error {
	kinds := filepath.Join("testdata", "needs", "crds.yaml")
	for _, file := range []string{kinds, filepath.Join("testdata", "shop.yaml")} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		// A namespace admits no pod before the controller manager has made its ServiceAccount.
		if why := fixture.Wait(ctx, within, 100*time.Millisecond, func() string {
			if _, err := cluster.Apply(ctx, string(text)); err != nil {
				return err.Error()
			}
			return ""
		}); why != "" {
			return errors.New(why)
		}
	}
	for _, args := range [][]string{
		{"wait", "--for=condition=Established", fixture.Timeout(), "-f", kinds},
		{"-n", namespace, "wait", "--for=condition=Ready", "graphview/storefront", "graphview/back-office", fixture.Timeout()},
		{"-n", namespace, "wait", "--for=create", "pod/web-0", "pod/web-1", "configmap/kube-root-ca.crt", fixture.Timeout()},
	} {
		if _, err := cluster.Kubectl(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

func eventually(t *testing.T, check func() string) {
	t.Helper()
	fixture.Eventually(t, within, 100*time.Millisecond, check)
}

// shell is a user's: a kubeconfig, and both programs on PATH.
type shell struct {
	env       []string
	namespace string // of its commands
}

// shellOf returns the shell of the administrator, or of a user with roles of that name. The shells of a user have one
// cache of the API server's discovery documents, as on a machine where kubectl has run before.
func shellOf(t *testing.T, user string) shell {
	t.Helper()
	config := cluster.Config()
	if user != "admin" {
		config = cluster.ClientConfig(user, "system:authenticated")
	}
	cache := "KUBECACHEDIR=" + filepath.Join(cluster.Dir(), "cache", user)
	return shell{env: append(fixture.Shell(t, cluster, config, folder), cache), namespace: namespace}
}

// command is `kubectl graphview`.
func (s shell) command(ctx context.Context, args ...string) *exec.Cmd {
	args = append([]string{"graphview", "-n", s.namespace}, args...)
	command := exec.CommandContext(ctx, cluster.KubectlPath(), args...)
	command.Env = s.env
	return command
}

// run runs the plugin and returns its output on a terminal. It does without kubectl, whose start takes as long as
// the answer of the plugin; command and try run kubectl.
func (s shell) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
	defer cancel()
	command := exec.CommandContext(ctx, filepath.Join(folder, "kubectl-graphview"), append([]string{"-n", s.namespace}, args...)...)
	command.Env = s.env
	return fixture.Run(t, command)
}

// Parts of the output that differ from run to run: the server's address, progress
// messages, ages, and the history.
var (
	server  = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	waiting = regexp.MustCompile(`(?m)^waiting for .*\n`)
	age     = regexp.MustCompile(`created \S+ ago`)
	changes = regexp.MustCompile(`(?m)^\nLast changes:\n(  .*\n)+|^  after \d.*\n`)
)

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	got = changes.ReplaceAllString(age.ReplaceAllString(server.ReplaceAllString(got, "127.0.0.1:PORT"), "created AGE ago"), "")
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// transcript returns the output of a command as in a terminal.
func transcript(stdout, stderr string, code int) string {
	text := stdout
	if stderr = waiting.ReplaceAllString(stderr, ""); stderr != "" {
		text += "--- standard error\n" + stderr
	}
	return fmt.Sprintf("%s--- exit code %d\n", text, code)
}
