// Command kubectl-graphview is a kubectl plugin: with it on PATH, `kubectl graphview`
// shows the graphs that GraphViews declare.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // every way to log in that kubectl has
	"k8s.io/klog/v2"

	"graphview.dev/cmd/kubectl-graphview/internal/command"
	"graphview.dev/graphview"
)

// version is set by the linker.
var version = "v0.0.0"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if err := graphview.PingAPIServer(); err != nil { // of the engine of --local
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	klog.SetLogger(logr.Discard()) // client-go logs what it returns as an error too
	code := command.Run(ctx, version, os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
	stop()
	os.Exit(code)
}
