package operator

import (
	"fmt"

	"graphview.dev/test/env"
	"graphview.dev/test/network"
)

// StartSingleHub is StartHub for a hub of one replica.
func StartSingleHub(plane *env.ControlPlane, o Options) (*Hub, error) {
	ports, err := env.FreePorts(1)
	if err != nil {
		return nil, err
	}
	hub := &Hub{plane: plane, tunnels: []string{fmt.Sprintf("127.0.0.1:%d", ports[0])}}
	if hub.balancer, err = network.NewPath(hub.tunnels...); err != nil {
		return hub, err
	}
	o.Args = append([]string{"--tunnel-bind-address=" + hub.tunnels[0], "--hub-name=" + hubName}, o.Args...)
	hub.Operator, err = Start(plane, o)
	return hub, err
}
