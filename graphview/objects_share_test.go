package graphview

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"graphview.dev/graphview/budget"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// TestObjectsBeyondTheirNamespacesShare: an editor who fills a namespace with large objects pays for them,
// although a view of another namespace watches them. The objects beyond the share have no content, and
// the view that selects them has a warning. Objects of other namespaces keep theirs, the view is served,
// and its namespace may hold as much as is free.
func TestObjectsBeyondTheirNamespacesShare(t *testing.T) {
	const large, limit = 60, 2 << 20
	content := func() string {
		b := make([]byte, 25_000)
		for i := range b {
			b[i] = byte(rand.Uint32())
		}
		return hex.EncodeToString(b)
	}
	var items []string
	for i := range large {
		items = append(items, fmt.Sprintf(`{"metadata":{"namespace":"shop","name":"c%d","uid":"u%d","resourceVersion":"1"},"data":{"a":%q}}`, i, i, content()))
	}
	items = append(items, `{"metadata":{"namespace":"calm","name":"small","uid":"u","resourceVersion":"1"},"data":{"a":"b"}}`)
	e := startEngine(t, Options{Config: configmaps.ServeItems(t, items, nil), HeldBytes: limit})
	followed := follow(t, e, yes)
	patience.Await(t, "the other namespace's object, and those with content", func() bool { return followed.vertices() > 0 && followed.lease.Feed.LastState().Synced })
	objects, err := followed.lease.Feed.Watch().Retained(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	without := 0
	for _, o := range objects {
		if o.LacksContent() {
			without++
			if o.Namespace() != "shop" {
				t.Errorf("%s/%s lacks its content", o.Namespace(), o.Name())
			}
		}
	}
	if len(objects) != large+1 || without == 0 || without == large {
		t.Errorf("%d of %d objects lack their content, want some of namespace shop", without, len(objects))
	}
	patience.Await(t, "the warnings", func() bool { return followed.view.warnings.Faults() == without })
	if lines := followed.view.warnings.Summary(false); len(lines) != 1 || !strings.Contains(lines[0], "kept without content") {
		t.Errorf("warnings: %q", lines)
	}
	if err := followed.view.Err(); err != nil {
		t.Errorf("the view: %v", err)
	}
	if held := e.ledger.Total(); held > limit {
		t.Errorf("%d bytes are held, more than %d", held, limit)
	}
	newcomer := e.ledger.Account(budget.NamespaceOwner("newcomer"))
	if free := newcomer.Most(budget.Programs); free < limit/8 {
		t.Errorf("a newcomer may hold %d bytes, want at least an eighth of %d", free, limit)
	}
}
