// Command manager is the GraphView operator: it reconciles GraphViews, keeps
// their graphs and serves them. The package has the flags and the wiring alone.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"graphview.dev/graphview"
)

// version is set by the linker.
var version = "v0.0.0"

func main() {
	o, err := parse(os.Args[0], os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, errHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	log := o.logger()
	ctrl.SetLogger(log)
	klog.SetLogger(log.WithName("kubernetes"))
	if err := graphview.PingAPIServer(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx := logr.NewContext(ctrl.SetupSignalHandler(), log)
	work := run
	if o.check != "" {
		work = check
	}
	if err := work(ctx, o); err != nil && !errors.Is(err, context.Canceled) {
		log.Error(err, "The operator ends")
		os.Exit(1)
	}
}
