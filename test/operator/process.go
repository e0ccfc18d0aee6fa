package operator

import (
	"context"
	"path/filepath"
	"slices"

	"graphview.dev/test/env"
)

// logName is the default name of the operator's log.
const logName = "manager"

// Process is the program, run with the same arguments again and again.
type Process struct {
	*env.Process // that runs now: Restart replaces it

	plane  *env.ControlPlane
	name   string // of the log
	binary string
	env    []string
	args   []string
}

// Launch starts a program with the given arguments. It ends with the control plane at the
// latest.
func Launch(plane *env.ControlPlane, binary string, args ...string) (*Process, error) {
	p := &Process{plane: plane, name: logName, binary: binary, args: args}
	return p, p.Restart()
}

// Restart starts the program that Stop or Kill ended, with the same arguments, and so
// on the same ports.
func (p *Process) Restart() error {
	var err error
	// env becomes the program that it starts.
	p.Process, err = p.plane.Run(p.name, "/usr/bin/env", slices.Concat(p.env, []string{p.binary}, p.args)...)
	return err
}

// Stop terminates the program as a kubelet does, and returns its exit code. It kills the
// program when the context ends.
func (p *Process) Stop(ctx context.Context) int {
	p.Terminate(ctx)
	return p.ExitCode()
}

// Kill ends the program as a crash would.
func (p *Process) Kill() { p.Process.Stop() }

// LogPath returns the file with the program's output, which a restart appends to.
func (p *Process) LogPath() string { return filepath.Join(p.plane.Dir(), "logs", p.name+".log") }

// Args returns the program's arguments.
func (p *Process) Args() []string { return p.args }
