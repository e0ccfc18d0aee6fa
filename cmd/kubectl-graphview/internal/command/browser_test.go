package command

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// All users of a machine can read the arguments of its processes.
func TestOpenBrowser(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "arguments")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho \"$@\" >'" + pipe + "'\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	const address = "http://127.0.0.1:8001/open/secret"
	remove, err := openBrowser(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	arguments, err := os.ReadFile(pipe) // blocks until the program has written them
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(arguments), "secret") {
		t.Errorf("the secret is in the arguments %q", arguments)
	}
	target, err := url.Parse(strings.TrimSpace(string(arguments)))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(target.Path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("the file has mode %s, want 0600", info.Mode())
	}
	page, err := os.ReadFile(target.Path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "url="+address) {
		t.Errorf("the file does not lead to the address: %s", page)
	}
	remove()
	if _, err := os.Stat(target.Path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}
