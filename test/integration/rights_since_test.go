package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/coder/websocket"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/test/subscriber"
)

// continueWith is a stream of the view "named" that continues after a revision.
type continueWith func(t *testing.T, ctx context.Context, since string) subscriber.Stream

// ways are those in which a user continues.
func (f *rightsFixture) ways(user *rest.Config) map[string]continueWith {
	path := f.path("watch", "named")
	return map[string]continueWith{
		"WebSocket": func(t *testing.T, ctx context.Context, since string) subscriber.Stream {
			t.Helper()
			conn, code, err := ownPort(t, f.server, user).dial(t, path+"?since="+url.QueryEscape(since), "graphview.v1")
			if err != nil {
				t.Fatalf("%d: %v", code, err)
			}
			return subscriber.Socket(ctx, conn)
		},
		"events, aggregated": func(t *testing.T, ctx context.Context, since string) subscriber.Stream {
			t.Helper()
			r := throughAPIServer(t, user)
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header = http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": {since}}
			next, err := subscriber.Response(r.client, request)
			if err != nil {
				t.Fatal(err)
			}
			return next
		},
		"one of many": func(t *testing.T, ctx context.Context, since string) subscriber.Stream {
			t.Helper()
			m := openMux(t, ownPort(t, f.server, user))
			m.send(t, `{"id":1,"subscribe":{"namespace":%q,"name":"named","since":%q}}`, f.red, since)
			return func() ([]byte, error) {
				for {
					kind, text, err := m.conn.Read(ctx)
					if err != nil {
						return nil, err
					}
					var head muxAnswer
					if err := json.Unmarshal(text, &head); err != nil || kind != websocket.MessageText {
						return nil, fmt.Errorf("%.300s: %w", text, err)
					}
					if head.ID == nil {
						return text, nil
					}
				}
			}
		},
	}
}

// TestRightsOfForgottenUser: a user whose rights the operator does not know, as after ten minutes without a stream,
// continues after a revision that it got with these rights, and gets the changes. With other rights it is reset.
// Users with equal rights have equal revisions, so another one takes the place of a user that is forgotten.
func TestRightsOfForgottenUser(t *testing.T) {
	f := newRightsFixture(t)
	aggregate(t, f.server)
	letAllConnect(t)
	rights := map[string]struct {
		namespace  string
		rule, less rbacv1.PolicyRule
	}{
		"a namespace":    {f.red, rule("list watch", "*"), rule("list watch", "configmaps", "pods")},
		"some resources": {"", rule("list watch", "configmaps", "deployments", "replicasets", "pods", "secrets"), rule("list watch", "configmaps", "deployments", "replicasets", "pods")},
	}
	f.rest(t)
	m := &matrix{T: t}
	people := 0
	for what, of := range rights {
		person := func(name string, may rbacv1.PolicyRule) *rest.Config {
			people++
			p := newPerson(t, f.red, fmt.Sprint(name, "-", people))
			grant(t, f.client, p, of.namespace, may)
			grant(t, f.client, p, f.red, graphRule("watch"))
			return p.certificate
		}
		for how := range f.ways(nil) {
			for who, may := range map[string]rbacv1.PolicyRule{"the same": of.rule, "less": of.less} {
				m.run(what+"/"+how+"/"+who, func(t *testing.T) {
					first, then := person("first", of.rule), person("then", may)
					mine := subscriber.New()
					f.followUntilLevel(t, mine, first, f.ways(first)[how])
					createConfigMap(t, f.client, f.red, fmt.Sprint("between-", people))
					sets, resets := 0, 0
					mine = mine.Continued()
					mine.Heard = func(text []byte) error {
						head, err := subscriber.Head(text)
						if sets += bytes.Count(text, []byte(`"svx"`)); head.Reset {
							resets++
						}
						return err
					}
					f.followUntilLevel(t, mine, then, f.ways(then)[how])
					if same := who == "the same"; same && (resets > 0 || sets != 1) || !same && resets != 1 {
						t.Errorf("%d resets and %d objects", resets, sets)
					}
				})
			}
		}
	}
}

// followUntilLevel follows a stream until the subscriber has the user's graph.
func (f *rightsFixture) followUntilLevel(t *testing.T, s *subscriber.Subscriber, user *rest.Config, open continueWith) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	follower := &graphFollower{s, make(chan struct{})}
	next := open(t, ctx, s.Begin())
	go follower.run(ctx, next)
	eventually(t, 20*time.Second, func() string { return f.agrees(t, follower, "named", user) })
	stop()
	<-follower.done
}
