package operator

import (
	"fmt"

	"graphview.dev/test/env"
)

// StartSingleHub starts the operator of a hub of one replica, after Install.
func StartSingleHub(plane *env.ControlPlane, o Options) (*Hub, error) {
	ports, err := env.FreePorts(1)
	if err != nil {
		return nil, err
	}
	hub := &Hub{plane: plane, tunnels: []string{fmt.Sprintf("127.0.0.1:%d", ports[0])}}
	o.Args = append([]string{"--tunnel-bind-address=" + hub.tunnels[0], "--hub-name=" + hubName}, o.Args...)
	hub.Operator, err = Start(plane, o)
	return hub, err
}
