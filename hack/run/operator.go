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

// startOperator installs the CustomResourceDefinitions and the operator's rights, and starts bin/manager.
func startOperator(ctx context.Context, plane *env.ControlPlane, root string) *operator.Operator {
	must.Do(operator.Install(ctx, plane, root))
	manager, err := operator.Start(plane, operator.Options{Binary: filepath.Join(root, "bin", "manager"), Args: []string{"--dashboard"}})
	if err != nil {
		must.Do(fmt.Errorf("%w (`make run` compiles it)", err))
	}
	return manager
}

// stopOperator stops the operator, which first sends its subscribers a last message.
func stopOperator(ctx context.Context, manager *operator.Operator) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	manager.Stop(ctx)
}
