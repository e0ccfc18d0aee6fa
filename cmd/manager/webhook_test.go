package main

import (
	"io"
	"strings"
	"testing"
)

func TestWebhookBindAddress(t *testing.T) {
	for name, test := range map[string]struct {
		args     []string
		wantHost string
		wantPort int
		wantErr  bool
	}{
		"off by default":  {},
		"off":             {args: []string{"--webhook-bind-address=0"}},
		"every address":   {args: []string{"--webhook-bind-address=:9443"}, wantPort: 9443},
		"one address":     {args: []string{"--webhook-bind-address=[::1]:9443"}, wantHost: "::1", wantPort: 9443},
		"no port":         {args: []string{"--webhook-bind-address=localhost"}, wantErr: true},
		"no number":       {args: []string{"--webhook-bind-address=:https"}, wantErr: true},
		"any port":        {args: []string{"--webhook-bind-address=:0"}, wantErr: true},
		"not a port":      {args: []string{"--webhook-bind-address=:65536"}, wantErr: true},
		"nothing":         {args: []string{"--webhook-bind-address="}, wantErr: true},
		"something empty": {args: []string{"--webhook-bind-address=:"}, wantErr: true},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := parse("manager", test.args, io.Discard)
			if test.wantErr {
				if err == nil || !strings.Contains(err.Error(), "--webhook-bind-address must be") {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			host, port, err := o.webhookPort()
			if err != nil || host != test.wantHost || port != test.wantPort {
				t.Errorf("%q, %d, %v", host, port, err)
			}
			server, err := newWebhookServer(o, certificates{})
			if err != nil || (server != nil) != (port != 0) {
				t.Errorf("server %v, %v", server, err)
			}
		})
	}
}
