package hostile

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"graphview.dev/test/subscriber"
)

// TestForgedRevs: a rev that is changed, cut, made up, or of another graph, is answered with a reset and
// the whole graph, and continues nothing.
func TestForgedRevs(t *testing.T) {
	namespace := newNamespace(t, "revs")
	fill(t, namespace, 20, 0)
	apply(t, small(namespace, "one"))
	apply(t, small(namespace, "two"))
	wantReady(t, namespace)
	c := client(t, "reader")
	first := func(name, since string) (messages []byte, rev string) {
		t.Helper()
		conn, code, err := dial(t.Context(), c, watchPath(namespace, name)+since, "graphview.v1", nil)
		if err != nil {
			t.Fatalf("%q: %d: %v", since, code, err)
		}
		defer func() { _ = conn.CloseNow() }()
		next := subscriber.Socket(t.Context(), conn)
		for rev == "" {
			text, err := next()
			if err != nil {
				t.Fatalf("%q: %v", since, err)
			}
			messages = append(messages, text...)
			head, err := subscriber.Head(text)
			if err != nil {
				t.Fatal(err)
			}
			rev = head.Rev
		}
		return messages, rev
	}
	_, rev := first("one", "")
	_, other := first("two", "")
	if got, _ := first("one", "?since="+url.QueryEscape(rev)); bytes.Contains(got, []byte(`"reset"`)) {
		t.Errorf("a valid rev is not continued: %.300s", got)
	}
	meanwhile(t, func(tries *tally) {
		forged := map[string]string{"another view's": other, "cut": rev[:len(rev)-3], "longer": rev + "aaa", "made up": "mbt1c6q8zk." + rand.Text(), "a dot": ".", "spaces": "   ", "large": strings.Repeat("9", 4000)}
		for i := range rev {
			text := []byte(rev)
			text[i] ^= 1
			forged[fmt.Sprintf("byte %d", i)] = string(text)
		}
		for name, rev := range forged {
			got, _ := first("one", "?since="+url.QueryEscape(rev))
			if !bytes.Contains(got, []byte(`"reset"`)) || bytes.Count(got, []byte(`"svx"`)) < 20 {
				t.Errorf("%s: no reset, or not the whole graph: %.300s", name, got)
				continue
			}
			tries.add("reset")
		}
		tries.measure(t)
	})
}

// TestNarrowedWhileObjectsChange: subscribers of parts of a graph whose objects and references change all
// the time. They are ended only because their user holds too much or has used up its budget.
func TestNarrowedWhileObjectsChange(t *testing.T) {
	namespace := newNamespace(t, "parts")
	const objects, holders, subscribers = 300, 20, 60
	claimEachOther(t, namespace, objects, holders)
	fill(t, namespace, objects, 0)
	apply(t, small(namespace, "all"))
	wantReady(t, namespace, "all")
	c := client(t, "narrow")
	meanwhile(t, func(tries *tally) {
		var open held
		defer open.close()
		var messages atomic.Int64
		for i := range subscribers {
			conn, code, err := dial(t.Context(), c, fmt.Sprintf("%s?direction=Both&depth=%d&root=configmaps/%s/h%d", watchPath(namespace, "all"), i%4, namespace, i%holders), "graphview.v1", nil)
			if err != nil {
				if code != http.StatusTooManyRequests {
					t.Errorf("%d: %v", code, err)
				}
				tries.add(fmt.Sprintf("HTTP %d", code))
				continue
			}
			open.keep(conn)
			tries.add("open")
			go func() {
				for {
					if _, _, err := conn.Read(t.Context()); err != nil {
						if code := websocket.CloseStatus(err); code != -1 {
							tries.add(fmt.Sprintf("closed %d", code))
						}
						return
					}
					messages.Add(1)
				}
			}()
		}
		for round := range 5 {
			change(t, namespace, fmt.Sprint(round), objects)
			clearConfigMaps(t, namespace, "kapp.k14s.io/is-app")
			inParallel(8, holders, func(i int) {
				makeConfigMap(t, namespace, fmt.Sprintf("h%d", i), map[string]string{"kapp.k14s.io/is-app": ""},
					map[string]string{"spec": `{"labelKey":"x","labelValue":"y","usedGKs":[{"Group":"","Kind":"ConfigMap"}]}`})
			})
		}
		eventually(t, func() string {
			if messages.Load() == 0 {
				return "no subscriber was sent anything"
			}
			return ""
		})
		tries.measure(t)
	})
	clearConfigMaps(t, namespace, "")
}
