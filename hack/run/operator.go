package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
	"graphview.dev/test/operator"
)

// startOperator installs what the operator needs and starts bin/manager.
func startOperator(ctx context.Context, plane *env.ControlPlane, root string) *operator.Operator {
	must.Do(operator.Install(ctx, plane, root))
	manager, err := operator.Start(plane, operator.Options{Binary: filepath.Join(root, "bin", "manager"), Args: []string{"--dashboard"}})
	if err != nil {
		must.Do(fmt.Errorf("%w (`make run` compiles it)", err))
	}
	return manager
}

// stopOperator gives the operator a moment to say goodbye to its subscribers.
func stopOperator(ctx context.Context, manager *operator.Operator) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	manager.Stop(ctx)
}
