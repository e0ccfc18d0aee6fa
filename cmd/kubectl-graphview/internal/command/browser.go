package command

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// openBrowser opens an address that contains a secret in the browser. All users of a
// machine can read the arguments of its processes, so the argument is a file that only
// this user can read and that redirects to the address. The caller calls remove, also after an
// error, when the browser has read the file. openBrowser does not wait for the browser.
func openBrowser(ctx context.Context, address string) (remove func(), err error) {
	file, err := redirectFile(address)
	if err != nil {
		return func() {}, err
	}
	remove = func() { _ = os.Remove(file) }
	program, args := "xdg-open", []string{fileURL(file)}
	switch runtime.GOOS {
	case "darwin":
		program = "open"
	case "windows":
		program, args = "rundll32", []string{"url.dll,FileProtocolHandler", fileURL(file)}
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), program, args...)
	if err := command.Start(); err != nil {
		return remove, fmt.Errorf("start %s: %w", program, err)
	}
	return remove, command.Process.Release()
}

// redirectFile writes a page that leads to an address. Only this user can read it.
func redirectFile(address string) (name string, err error) {
	file, err := os.CreateTemp("", "graphview-*.html") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(file, `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">`+
		`<meta http-equiv="refresh" content="0;url=%s"><title>GraphView</title>`+"\n", html.EscapeString(address))
	if err := errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// fileURL returns the URL of a file; on Windows its path begins with a drive.
func fileURL(name string) string {
	name = filepath.ToSlash(name)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	return (&url.URL{Scheme: "file", Path: name}).String()
}
