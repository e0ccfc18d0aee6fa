package replicas

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Member is one replica.
type Member struct {
	// Name is the name of the replica's pod, which stays the same across container restarts.
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

// Balance returns the name of the member that owns each scope: the first in rank of the members
// that own less than 1.25 times the mean. Without the bound, the largest of three
// members has nearly half of 30 scopes as often as not. The scopes are taken in order, so
// that members that know the same scopes agree, as in consistent hashing with bounded loads
// (Mirrokni, Thorup and Zadimoghaddam, 2016).
func Balance(scopes []string, members []Member) map[string]string {
	if len(members) == 0 {
		return nil
	}
	scopes = slices.Compact(slices.Sorted(slices.Values(scopes)))
	bound := (5*len(scopes) + 4*len(members) - 1) / (4 * len(members))
	owned := make(map[string]int, len(members))
	out := make(map[string]string, len(scopes))
	for _, scope := range scopes {
		for _, m := range Rank(scope, members) {
			if owned[m.Name] < bound {
				owned[m.Name]++
				out[scope] = m.Name
				break
			}
		}
	}
	return out
}
