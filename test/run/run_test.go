package run

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// within bounds the start, and each command.
const within = 3 * time.Minute

// TestRun: the page opens, each command that is printed works, and Ctrl-C ends everything.
func TestRun(t *testing.T) {
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "run")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./hack/run")
	build.Dir = root
	fixture.MustRun(t, build)
	for name, test := range map[string]struct {
		args []string
		// least is the number of commands that there are.
		least int
		// sample reports whether the sample has a pod that lacks its ConfigMap.
		sample bool
	}{
		"make run":       {least: 7, sample: true},
		"make run-fleet": {args: []string{"-fleet"}, least: 6},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, root, binary, test.args...)
			exports, commands, page := p.read(t)
			if len(exports) != 2 || len(commands) < test.least {
				t.Fatalf("it printed %d exports and %d commands:\n%s", len(exports), len(commands), p.text.String())
			}
			open(t, page)
			for _, command := range commands {
				try(t, root, exports, command)
			}
			if test.sample {
				breaksInOnePlace(t, exports)
			}
			p.interrupt(t)
			if response, err := http.Get(page); err == nil { //nolint:noctx // nothing listens
				_ = response.Body.Close()
				t.Error("the page is there after the end")
			}
		})
	}
}

// breaksInOnePlace wants one pod of the sample to wait, for the ConfigMap that it lacks, and all to run once it is
// there. The sample changes all the time, so other pods wait for a moment.
func breaksInOnePlace(t *testing.T, exports []string) {
	t.Helper()
	shell := func(command string) string {
		said, errs, code := fixture.Run(t, exec.CommandContext(t.Context(), "bash", "-c", strings.Join(exports, "\n")+"\nexec "+command))
		if code != 0 {
			t.Fatalf("%s: exit code %d\n%s%s", command, code, said, errs)
		}
		return strings.TrimSpace(said)
	}
	want := func(waiting string) {
		t.Helper()
		fixture.Eventually(t, within, 200*time.Millisecond, func() string {
			said := shell(`kubectl get pods -n shop -o jsonpath='{range .items[?(@.status.phase!="Running")]}{.metadata.name} {.status.containerStatuses[0].state.waiting.reason}{"\n"}{end}'`)
			if said != waiting {
				return fmt.Sprintf("pods wait: %q; want %q", said, waiting)
			}
			return ""
		})
	}
	want("worker-0 CreateContainerConfigError")
	shell("kubectl -n shop create configmap worker --from-literal=QUEUE=orders")
	want("")
}

// program is a running `make run`.
type program struct {
	command *exec.Cmd
	lines   *bufio.Scanner
	errs    fixture.Output
	text    strings.Builder // that read has read
}

func start(t *testing.T, root, binary string, args ...string) *program {
	t.Helper()
	p := &program{command: exec.CommandContext(t.Context(), binary, args...)}
	p.command.Dir, p.command.Stderr = root, &p.errs
	p.command.Cancel = func() error { return p.command.Process.Signal(syscall.SIGTERM) }
	out, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	return p
}

// read reads the output of the program up to the address of the page, which comes last.
func (p *program) read(t *testing.T) (exports, commands []string, page string) {
	t.Helper()
	for p.lines.Scan() {
		line := p.lines.Text()
		p.text.WriteString(line + "\n")
		typed, indented := strings.CutPrefix(line, "  ")
		switch {
		case !indented:
		case strings.HasPrefix(typed, "export "):
			exports = append(exports, typed)
		case strings.HasPrefix(typed, "kubectl "):
			commands = append(commands, typed)
		case strings.HasPrefix(typed, "http"):
			return exports, commands, typed
		}
	}
	t.Fatalf("it ended before it printed the address of the page: %v\n%s%s", p.lines.Err(), p.text.String(), p.errs.String())
	return nil, nil, ""
}

// interrupt presses Ctrl-C, and wants the program to end without an error.
func (p *program) interrupt(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for p.lines.Scan() { // to the end of its output
		p.text.WriteString(p.lines.Text() + "\n")
	}
	if err := p.command.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v\n%s", err, p.errs.String())
	}
}

// open opens the page as a browser does.
func open(t *testing.T, page string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(url string) string {
		t.Helper()
		code, body, err := fixture.Get(t.Context(), browser, url)
		if err != nil || code != http.StatusOK {
			t.Fatalf("%s: %d, %v, %.300s", url, code, err, body)
		}
		return string(body)
	}
	first, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	// The address that works once sends the browser on.
	next := refresh.FindStringSubmatch(get(page))
	if next == nil {
		t.Fatalf("%s leads nowhere", page)
	}
	if body := get(first.ResolveReference(&url.URL{Path: next[1]}).String()); !strings.Contains(body, "graph-view.js") {
		t.Errorf("%s is no page with a graph: %.300s", next[1], body)
	}
}

var refresh = regexp.MustCompile(`http-equiv="refresh" content="0;url=([^"#]+)`)

// try types a command. One that follows a graph has to print a line. Every other has to print something and
// to succeed, but for problems, which fails as long as there are some.
func try(t *testing.T, root string, exports []string, command string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", strings.Join(exports, "\n")+"\nexec "+command)
	shell.Dir = root
	if !strings.Contains(command, "watch") {
		said, errs, code := fixture.Run(t, shell)
		if said == "" || code != 0 && (code != 1 || !strings.Contains(command, " problems ")) {
			t.Errorf("%s: exit code %d\n%s%s", command, code, said, errs)
		}
		return
	}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Errorf("%s: %q, %v", command, line, err)
	}
	cancel()
	_, _ = io.Copy(io.Discard, out)
	_ = shell.Wait() // killed
}
