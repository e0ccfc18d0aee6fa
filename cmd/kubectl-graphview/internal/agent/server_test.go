package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestArgs: nothing that a model says becomes a flag.
func TestArgs(t *testing.T) {
	for name, test := range map[string]struct {
		got  []string
		want string
	}{
		"graphs":   {graphs{scope{Namespace: "--as=root"}}.args(), "list --namespace=--as=root --"},
		"problems": {problems{scope{AllNamespaces: true}, ""}.args(), "problems --all-namespaces --"},
		"tree":     {tree{Graph: "--all", Object: "-A", Depth: 2, Reverse: true, Missing: true}.args(), "tree --reverse --missing --depth=2 -- --all -A"},
		"explain":  {explain{Namespace: "shop", Graph: "--", Object: "pod/x"}.args(), "explain --namespace=shop -- -- pod/x"},
		"changes":  {changes{Object: "-A", Since: "--as=root"}.args(), "changes --since=--as=root -- -A"},
		"impact":   {impact{Object: "--as=root", Graph: "-A"}.args(), "impact --in=-A -- --as=root"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, strings.Join(test.got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestShortened(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	if got := shortened(line); got != line {
		t.Errorf("a short text became %q", got)
	}
	got := shortened(strings.Repeat(line, 1000))
	if whole, _, _ := strings.Cut(got, "\n\n"); len(got) > mostText+100 || strings.Count(whole, "\n") != mostText/100-1 || !strings.Contains(got, "345 more lines") {
		t.Errorf("%d bytes, the last %q", len(got), got[len(got)-100:])
	}
	if got := shortened(strings.Repeat("x", 2*mostText)); len(got) > 200 {
		t.Errorf("a long line became %d bytes", len(got))
	}
}

// TestGraphOf: a resource is a graph of a namespace, and nothing else.
func TestGraphOf(t *testing.T) {
	if namespace, graph, err := graphOf("graphview://shop/storefront"); namespace != "shop" || graph != "storefront" || err != nil {
		t.Errorf("%q, %q, %v", namespace, graph, err)
	}
	for _, wrong := range []string{"graphview://shop", "graphview://shop/", "graphview:///web", "graphview://shop/web/pods", "https://shop/web", "%"} {
		if _, _, err := graphOf(wrong); err == nil {
			t.Errorf("%s is a resource", wrong)
		}
	}
}

// TestSubscribeAgain: a graph that was deleted and is there again can be subscribed to again.
func TestSubscribeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		followed := 0
		r := &resources{ctx: ctx, followed: map[string]context.CancelFunc{}, server: mcp.NewServer(&mcp.Implementation{Name: "graphview"}, nil)}
		r.follow = func(ctx context.Context, _, _ string, changed func()) error {
			changed()
			if followed++; followed == 1 {
				return errors.New("the graph was deleted")
			}
			<-ctx.Done()
			return ctx.Err()
		}
		for range 3 { // the third one is followed already
			if err := r.subscribe(ctx, &mcp.SubscribeRequest{Params: &mcp.SubscribeParams{URI: "graphview://shop/storefront"}}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if followed != 2 {
			t.Errorf("the graph was followed %d times, want 2", followed)
		}
		stop()
		r.running.Wait()
	})
}
