package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// trouble is one thing that goes wrong for the length of an episode. Nil
// functions do nothing.
type trouble struct {
	name string
	// sort is the name of its sort.
	sort  string
	begin func(ctx context.Context) error
	// step is called between the changes of the workload.
	step func(ctx context.Context) error
	heal func(ctx context.Context) error
	// after is called when all graphs have been compared.
	after func(ctx context.Context) error
	// outage: the API server is unavailable for a while to all clients.
	outage bool
	// lasts is how long the trouble has to last to be any.
	lasts time.Duration
}

// sort is a sort of trouble, and how often it is chosen.
type sort struct {
	name   string
	weight int
	make   func(s *scene, r *rand.Rand) trouble
	// cluster: it happens to the whole cluster, so that all scenes have it.
	cluster bool
}

var sorts = []sort{
	{"requests fail", 10, requestsFail, false}, {"connections break", 4, connectionsBreak, false}, {"answers stall", 4, answersStall, false},
	{"out of reach", 3, everybodyLeaves, false}, {"connections die", 1, connectionsDie, false}, {"API server killed", 3, serverCrashes, true},
	{"etcd slow", 3, etcdIsSlow, true}, {"engine restarted", 2, engineRestarts, false}, {"conversion broken", 2, conversionBreaks, true},
	{"aggregated API down", 2, extensionFails, true}, {"namespace stuck", 2, namespaceSticks, false}, {"large objects", 2, objectsAreLarge, false},
}

// sortNamed is the index of a sort, -1 if there is none of that name.
func sortNamed(name string) int {
	return slices.IndexFunc(sorts, func(s sort) bool { return s.name == name })
}

func (s *sort) trouble(in *scene, r *rand.Rand) trouble {
	made := s.make(in, r)
	made.sort = s.name
	return made
}

// choose draws one or two different kinds of trouble; a flag may set the first. Only the
// first scene draws troubles of the whole cluster, and the other scenes have them too,
// beside their own.
func choose(s *scene, r *rand.Rand, ofFirst []trouble) []trouble {
	total := 0
	for _, sort := range sorts {
		total += sort.weight
	}
	pick := func() int {
		n := r.IntN(total)
		for i, sort := range sorts {
			if n -= sort.weight; n < 0 {
				return i
			}
		}
		panic("unreachable")
	}
	first, second := pick(), pick()
	if named := sortNamed(*only); named >= 0 {
		first = named
	}
	drawn := []int{first}
	if second != first && r.IntN(3) == 0 {
		drawn = append(drawn, second)
	}
	if ofFirst != nil {
		drawn = slices.DeleteFunc(drawn, func(i int) bool { return sorts[i].cluster })
	}
	var chosen []trouble
	for _, i := range drawn {
		chosen = append(chosen, sorts[i].trouble(s, r))
	}
	for _, t := range ofFirst {
		if i := sortNamed(t.sort); sorts[i].cluster {
			chosen = append(chosen, sorts[i].trouble(s, r))
		}
	}
	for len(chosen) == 0 {
		if i := pick(); !sorts[i].cluster {
			chosen = append(chosen, sorts[i].trouble(s, r))
		}
	}
	// The last to begin is the first to be healed, and an outage keeps others
	// from either.
	slices.SortStableFunc(chosen, func(a, b trouble) int {
		switch {
		case a.outage == b.outage:
			return 0
		case a.outage:
			return 1
		default:
			return -1
		}
	})
	return chosen
}

// requestsFail: some requests are delayed, refused or cut short.
func requestsFail(s *scene, r *rand.Rand) trouble {
	var faults []Fault
	var names []string
	for range 1 + r.IntN(3) {
		f := randomFault(r)
		faults, names = append(faults, f), append(names, f.String())
	}
	cuts, seed := r.IntN(5) > 0, r.Uint64()
	return trouble{name: strings.Join(names, ", "), begin: func(context.Context) error {
		s.proxy.Break(seed, faults...)
		if cuts {
			s.proxy.Cut()
		}
		return nil
	}}
}

func randomFault(r *rand.Rand) Fault {
	f := Fault{Chance: []float64{0.2, 0.5, 1}[r.IntN(3)]}
	switch r.IntN(6) {
	case 0:
		f.Verbs = []string{"list"}
	case 1, 2:
		f.Verbs = []string{"watch"}
	case 3:
		f.Verbs = []string{"discover"}
	case 4:
		f.Verbs = []string{"list", "watch"}
	}
	if r.IntN(2) == 0 {
		all := []string{"pods", "configmaps", "secrets", "services", "deployments", "replicasets", "namespaces", "serviceaccounts"}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		f.Resources = all[:1+r.IntN(4)]
		if len(f.Verbs) == 1 && f.Verbs[0] == "discover" {
			f.Verbs = nil
		}
	}
	switch r.IntN(8) {
	case 0:
		f.Delay = time.Duration(50+r.IntN(1500)) * time.Millisecond
	case 1, 2, 3:
		codes := []int{
			http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusTooManyRequests,
			http.StatusInternalServerError, http.StatusServiceUnavailable,
		}
		f.Code = codes[r.IntN(len(codes))]
	case 4:
		f.Expire = true
	default:
		f.Truncate = 1 << (6 + r.IntN(10))
		f.Clean = r.IntN(2) == 0
	}
	return f
}

// connectionsBreak: again and again, all of them.
func connectionsBreak(s *scene, r *rand.Rand) trouble {
	often := 2 + r.IntN(15)
	return trouble{name: fmt.Sprintf("cut connections at one of %d steps", often), step: func(context.Context) error {
		if s.dice.IntN(often) == 0 {
			s.proxy.Cut()
		}
		return nil
	}}
}

// answersStall: nothing comes any more and nothing says so.
func answersStall(s *scene, r *rand.Rand) trouble {
	f := Fault{Chance: 1, Stall: true, Verbs: [][]string{{"watch"}, {"list", "watch"}, nil}[r.IntN(3)]}
	if r.IntN(2) == 0 {
		f.Resources = []string{"pods", "configmaps"}
	}
	cuts, seed := r.IntN(2) == 0, r.Uint64()
	return trouble{name: f.String(), begin: func(context.Context) error {
		s.proxy.Break(seed, f)
		if cuts {
			s.proxy.Cut()
		}
		return nil
	}}
}

// everybodyLeaves: the API server is out of reach, for long enough that etcd
// forgets what watches would continue from.
func everybodyLeaves(s *scene, _ *rand.Rand) trouble {
	return trouble{name: "out of reach past a compaction", lasts: 3500 * time.Millisecond, begin: func(context.Context) error {
		s.proxy.Leave()
		return nil
	}}
}

// connectionsDie: they are never heard of again.
func connectionsDie(s *scene, _ *rand.Rand) trouble {
	return trouble{
		name: "dead connections",
		begin: func(context.Context) error {
			s.proxy.Drop()
			return nil
		},
		// The engine has found out by then. The proxy never does: it has nothing to send.
		after: func(context.Context) error {
			s.proxy.CutDropped()
			return nil
		},
	}
}

// serverCrashes: the API server is killed and comes back.
func serverCrashes(_ *scene, r *rand.Rand) trouble {
	away := time.Duration(r.IntN(2000)) * time.Millisecond
	return trouble{
		name: fmt.Sprintf("API server killed for %s", away), outage: true,
		begin: func(context.Context) error {
			plane.StopAPIServer()
			return nil
		},
		heal: func(ctx context.Context) error {
			pause(ctx, away)
			return plane.StartAPIServer(ctx)
		},
	}
}

// engineRestarts in the middle of it all, and begins with nothing.
func engineRestarts(s *scene, _ *rand.Rand) trouble {
	return trouble{name: "engine restarted", begin: func(context.Context) error {
		s.engine.stop()
		s.engine.start()
		return nil
	}}
}
