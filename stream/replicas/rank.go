package replicas

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Member is one replica.
type Member struct {
	// Name is that of the replica's pod, which outlives its container.
	Name string
	// Run identifies one run of the process: revisions belong to a run.
	Run string
	// Address is the host:port of the replica's relay port; empty if it has none.
	Address string
	// Wire is the version of the relay protocol that the replica speaks.
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
		sum := sha256.Sum256([]byte(m.Name + "\x00" + scope))
		all = append(all, ranked{m, binary.BigEndian.Uint64(sum[:])})
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.member.Name, b.member.Name))
	})
	out := make([]Member, 0, len(all))
	for _, r := range all {
		out = append(out, r.member)
	}
	return out
}
