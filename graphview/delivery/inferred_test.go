package delivery

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (r *reader) wantsArcs(t *testing.T, when string, want ...string) {
	t.Helper()
	r.catchUp(t)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(r.arcs))); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// TestExcludeInferred: subscribers who leave out what is inferred are encoded for together,
// and a revision is for who wants the same.
func TestExcludeInferred(t *testing.T) {
	s := newStage(t)
	s.link(map[string][]string{"shop/a": {"shop/b", "?shop/c"}, "shop/b": nil, "shop/c": nil})
	exclude := SubscribeOptions{ExcludeInferred: true}
	all, one, other := s.reader(SubscribeOptions{}), s.reader(exclude), s.reader(exclude)
	for _, r := range []*reader{one, other} {
		r.wantsArcs(t, "without what is inferred", "a > b")
		r.wants(t, "without what is inferred", "a", "b", "c")
	}
	all.wantsArcs(t, "all", "a > b", "a > c")
	if one.digest != other.digest || one.state != other.state {
		t.Error("two who want the same are at different states")
	}
	if one.digest == all.digest {
		t.Error("two who want something else share messages")
	}

	before := s.publisher.source.Shared.Encodings()
	s.link(map[string][]string{"shop/a": {"shop/b", "shop/c"}})
	one.wantsArcs(t, "declared too", "a > b", "a > c")
	other.wantsArcs(t, "declared too", "a > b", "a > c")
	if n := s.publisher.source.Shared.Encodings() - before; n != 1 {
		t.Errorf("%d encodings for two who want the same", n)
	}
	back := s.reader(SubscribeOptions{ExcludeInferred: true, Since: one.rev})
	s.link(map[string][]string{"shop/a": {"?shop/b", "shop/c"}})
	one.wantsArcs(t, "inferred again", "a > c")
	all.wantsArcs(t, "all", "a > b", "a > c")
	back.arcs = map[string]bool{"a > b": true, "a > c": true}
	if back.wantsArcs(t, "who came back", "a > c"); back.sent > 1 {
		t.Errorf("it was sent %d vertices, want what changed", back.sent)
	}
	for name, o := range map[string]SubscribeOptions{
		"with what is inferred":    {Since: one.rev},
		"without what is inferred": {Since: all.rev, ExcludeInferred: true},
	} {
		r := s.reader(o)
		r.vertices["old"] = ""
		r.wants(t, name, "a", "b", "c")
	}

	narrow := narrowTo(t, 0, "down", "pods/shop/a")
	s.reader(SubscribeOptions{Narrow: narrow}).wants(t, "what a leads to", "a", "b", "c")
	part := s.reader(SubscribeOptions{Narrow: narrow, ExcludeInferred: true})
	part.wants(t, "what a leads to without what is inferred", "a", "c")
	part.wantsArcs(t, "what a leads to without what is inferred", "a > c")
}
