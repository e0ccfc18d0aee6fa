package delivery

import (
	"testing"

	"graphview.dev/graphview/history"
)

// TestChangesOfAnEarlierNamespace: an object whose removal has a range may be of the namespace that was deleted in that
// time, and made again by others. So the range counts from its beginning.
func TestChangesOfAnEarlierNamespace(t *testing.T) {
	s := newRecordedStage(t, true)
	made := s.log.Now() // the namespace
	s.record(history.Entry{Op: history.Removed, Object: key("shop", "theirs"), Kind: "Pod", Before: fine, From: made - 1})
	s.record(history.Entry{Op: history.Removed, Object: key("shop", "ours"), Kind: "Pod", Before: fine, From: made})
	for name, rights := range map[string]struct {
		fixedRights
		want int
	}{"of the namespace": {rightsTo("shop"), 1}, "of all namespaces": {fixedRights{{Resource: "pods"}: true}, 2}} {
		q := ChangesQuery{Until: 1 << 62, Limit: 100, Log: s.log, Foreign: func(_ string, at int64) bool { return at < made }}
		answer, err := s.publisher.Changes(t.Context(), &q, fixedAccess(rights.fixedRights))
		if err != nil || len(answer.Changes) != rights.want || answer.Changes[0].Object.Name != "ours" {
			t.Errorf("rights %s: %d changes, want %d; %v", name, len(answer.Changes), rights.want, err)
		}
	}
}
