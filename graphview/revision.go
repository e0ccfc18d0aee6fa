package graphview

import (
	"crypto/rand"
	"hash/fnv"
	"strconv"
	"strings"
)

// newRunID names a run of the process: revisions of another run mean nothing.
func newRunID() string { return strings.ToLower(rand.Text()[:10]) }

// revision is what a subscriber gives back to continue. It binds the run, the
// view, the subscriber's rights and a position; a mismatch in any of them
// means that the subscriber begins anew.
type revision struct {
	run, view, rights string
	known             uint64
}

func short(s string) string {
	h := fnv.New64a()
	h.Write([]byte(s))
	return strconv.FormatUint(h.Sum64(), 36)
}

func (r revision) String() string {
	return strings.Join([]string{r.run, r.view, r.rights, strconv.FormatUint(r.known, 36)}, ".")
}

// parseRevision returns false for anything that is not a revision.
func parseRevision(s string) (revision, bool) {
	parts := strings.Split(s, ".")
	if len(parts) != 4 {
		return revision{}, false
	}
	known, err := strconv.ParseUint(parts[3], 36, 64)
	return revision{run: parts[0], view: parts[1], rights: parts[2], known: known}, err == nil && known > 0
}
