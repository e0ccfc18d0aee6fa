package replicas

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Member is one replica.
type Member struct {
	// Run is one run of a process: after a restart it is another member.
	Run string
	// Address is the host:port at which other replicas ask it.
	Address string
	// Wire is the version of what it says to others: only those of the same one ask it.
	// During an upgrade there are replicas of two versions, which see each other
	// nevertheless.
	Wire string
}

// Rank returns the members in the order in which they are responsible for a scope.
func Rank(scope string, members []Member) []Member {
	type ranked struct {
		member Member
		weight uint64
	}
	all := make([]ranked, 0, len(members))
	for _, m := range members {
		sum := sha256.Sum256([]byte(m.Run + "\x00" + scope))
		all = append(all, ranked{m, binary.BigEndian.Uint64(sum[:])})
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.member.Run, b.member.Run))
	})
	out := make([]Member, 0, len(all))
	for _, r := range all {
		out = append(out, r.member)
	}
	return out
}
