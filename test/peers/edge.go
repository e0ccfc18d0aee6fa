package peers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"graphview.dev/test/env"
)

// StartEdge starts two replicas: a holder of all views, and an edge. It returns when the
// edge knows the holder, and so does not hold views itself.
func StartEdge(ctx context.Context, plane *env.ControlPlane, holding, serving Options) (holder, edge *Replica, err error) {
	holding.Name, serving.Name, serving.Edge = "holder", "edge", true
	if holder, err = Start(plane, holding); err != nil {
		return nil, nil, err
	}
	if edge, err = Start(plane, serving); err != nil {
		holder.Close()
		return nil, nil, err
	}
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		n, err := edge.Metric(ctx, "graphview_replicas")
		if err == nil && n == 1 {
			return holder, edge, nil
		}
		select {
		case <-ctx.Done():
			holder.Close()
			edge.Close()
			return nil, nil, fmt.Errorf("the edge knows of %v replicas: %w", n, errors.Join(ctx.Err(), err))
		case <-ticker.C:
		}
	}
}
