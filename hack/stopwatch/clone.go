package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// firstPicture does what README.md says to try: it clones the repository, runs make run,
// and opens the address. Then it runs make run once more.
func firstPicture(ctx context.Context, root string, cold bool) (first, again *clock, err error) {
	dir, err := os.MkdirTemp("", "graphview-stopwatch-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	clone, environment := filepath.Join(dir, "graphview"), strangers(os.Environ())
	if cold {
		environment = append(environment, "GOCACHE="+filepath.Join(dir, "cache"))
	}
	first = startClock()
	if out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", root, clone).CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("git clone: %w\n%s", err, out)
	}
	first.lap("`git clone` has copied the repository, from this disk")
	if err := makeRun(ctx, clone, environment, first); err != nil {
		return nil, nil, err
	}
	again = startClock()
	return first, again, makeRun(ctx, clone, environment, again)
}

// strangers is an environment without what this machine says of control planes, and
// without what the make that started this program hands on.
func strangers(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"GRAPHVIEW_CONTROL_PLANE", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "KUBECONFIG"}, name)
	})
}

// address is what make run tells its user to open.
var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+/open/\S+`)

// makeRun runs make run until its address has answered, and ends it as Ctrl-C does.
func makeRun(ctx context.Context, clone string, environment []string, c *clock) error {
	running, end := context.WithCancel(ctx)
	defer end()
	command := exec.CommandContext(running, "make", "run")
	command.Dir, command.Env, command.Stderr = clone, environment, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = time.Minute
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	failed := c.follow(ctx, bufio.NewScanner(out), end)
	end()
	err = command.Wait()
	if failed != nil {
		return errors.Join(failed, err)
	}
	return ctx.Err() // that it was interrupted is no error
}

var errNoAddress = errors.New("make run ended before it printed an address")

// follow reads what make run prints, opens the address and then calls end. It returns
// when there is nothing more to read.
func (c *clock) follow(ctx context.Context, lines *bufio.Scanner, end func()) error {
	failed := errNoAddress
	compiled, opened := false, false
	for lines.Scan() {
		if !compiled && strings.HasSuffix(lines.Text(), ": starting") {
			compiled = true
			c.lap("`make run` has compiled everything")
		}
		found := address.FindString(lines.Text())
		if found == "" || opened {
			continue
		}
		opened = true
		c.lap("it prints the dashboard's address")
		if failed = look(ctx, found); failed == nil {
			c.lap("the address has answered with the page and the sample's graph")
		}
		end()
	}
	return errors.Join(failed, lines.Err())
}
