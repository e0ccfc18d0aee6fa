package replicas

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/test/faults"
	"graphview.dev/test/peers"
)

// trouble is what may happen to replicas for the length of an episode.
type trouble struct {
	name string
	// long: it waits until Leases have expired, or is of several replicas.
	long bool
	// begin does it. It returns what happens, the replicas whose readers are served as
	// ever meanwhile, and what ends it.
	begin func(e *episode) (what string, served []*peers.Replica, end func())
}

var troubles = []trouble{
	{"crash", false, crash},
	{"freeze", true, freeze},
	{"stop", false, stop},
	{"unreachable", false, unreachable},
	{"slow", false, slow},
	{"cut", false, cut},
	{"Leases refused", true, leasesRefused},
	{"Leases hidden", true, leasesHidden},
	{"clock", true, clockIsWrong},
	{"scaling", true, scaling},
	{"rollout", true, rollout},
	{"API server away", true, serverAway},
}

func crash(e *episode) (string, []*peers.Replica, func()) {
	e.loses(e.victim, held)
	e.mayEnd(e.victim, func(a *allowance) { a.cuts++ })
	e.victim.Kill()
	e.flee()
	return "crash of " + e.victim.Name, others(e.victim), func() { restart(e.t, e.victim) }
}

// freeze stops a process where it is, with its connections open.
func freeze(e *episode) (string, []*peers.Replica, func()) {
	e.loses(e.victim, across)
	e.signal(syscall.SIGSTOP)
	e.flee()
	what := "freeze of " + e.victim.Name
	if e.random.IntN(2) == 0 {
		what += " until its Lease has expired"
		e.eventually(func() string { return knowing(e.t, others(e.victim), len(edges)-1) })
	}
	return what, others(e.victim), func() { e.signal(syscall.SIGCONT) }
}

func stop(e *episode) (string, []*peers.Replica, func()) {
	e.stops(e.victim)
	e.flee()
	return "SIGTERM to " + e.victim.Name, others(e.victim), func() { restart(e.t, e.victim) }
}

// unreachable: the victim reaches the others, and they do not reach it.
func unreachable(e *episode) (string, []*peers.Replica, func()) {
	held := []peers.Weather{{HeldThere: true, HeldBack: true}, {HeldThere: true}, {HeldBack: true}}[e.random.IntN(3)]
	e.loses(e.victim, heldFromAfar)
	e.victim.Link.Turn(held)
	return fmt.Sprintf("nothing to %s arrives: %t, nothing it answers: %t", e.victim.Name, held.HeldThere, held.HeldBack), edges, e.calm
}

// slow: bytes between replicas are late and few.
func slow(e *episode) (string, []*peers.Replica, func()) {
	w := peers.Weather{Latency: time.Duration(20+e.random.IntN(230)) * time.Millisecond, Rate: 32 << (10 + e.random.IntN(4))}
	struck := edges
	if e.random.IntN(2) == 0 {
		struck = []*peers.Replica{e.victim}
	}
	for _, r := range struck {
		r.Link.Turn(w)
	}
	return fmt.Sprintf("%s and %d KiB/s to %d replicas", w.Latency, w.Rate>>10, len(struck)), edges, e.calm
}

// cut ends the connections to the victim, and lets others be made: readers continue at the
// same replica, and none is reset.
func cut(e *episode) (string, []*peers.Replica, func()) {
	e.victim.Link.Cut()
	return "connections to " + e.victim.Name + " cut", edges, func() {}
}

// leasesRefused: one replica, or all, cannot renew until the others take it for gone.
func leasesRefused(e *episode) (string, []*peers.Replica, func()) {
	codes := []int{http.StatusForbidden, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}
	refusal := faults.Fault{Verbs: []string{"create", "update", "delete"}, Resources: []string{"leases"}, Chance: 1, Code: codes[e.random.IntN(len(codes))]}
	struck, know := []*peers.Replica{e.victim}, others(e.victim)
	if e.random.IntN(2) == 0 {
		struck, know = edges, edges
	}
	for _, r := range struck {
		r.API.Break(1, refusal)
	}
	e.eventually(func() string { return knowing(e.t, know, len(edges)-min(len(struck), len(edges)-1)) })
	return fmt.Sprintf("%d to Leases of %d replicas, which expire", refusal.Code, len(struck)), edges, e.healed
}

// leasesHidden: the replicas disagree on who there is. Each sees some of the others.
func leasesHidden(e *episode) (string, []*peers.Replica, func()) {
	what, sees := "", make(map[*peers.Replica]int)
	for i, r := range edges {
		hidden := make(map[string]bool)
		for j, other := range edges {
			// The victim does not see the next, whatever is drawn for the others.
			if j != i && (r == e.victim && j == (i+1)%len(edges) || e.random.IntN(2) == 0) {
				hidden[other.Link.Address()] = true
				what += fmt.Sprintf(" %d->%d", i, j)
			}
		}
		sees[r] = len(edges) - len(hidden)
		if len(hidden) > 0 {
			r.API.Break(1, faults.Fault{Verbs: []string{"list"}, Resources: []string{"leases"}, Chance: 1, Answered: func(body []byte) []byte { return without(body, hidden) }})
		}
	}
	e.eventually(func() string {
		for r, n := range sees {
			if why := knowing(e.t, []*peers.Replica{r}, n); why != "" {
				return why
			}
		}
		return ""
	})
	return "not seen:" + what, edges, e.healed
}

// without is a list of Leases without those of some addresses.
func without(body []byte, hidden map[string]bool) []byte {
	var list coordinationv1.LeaseList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil // not a LeaseList
	}
	list.Items = slices.DeleteFunc(list.Items, func(l coordinationv1.Lease) bool { return hidden[l.Annotations[addressAnnotation]] })
	text, err := json.Marshal(list)
	if err != nil {
		return nil
	}
	return text
}

// clockIsWrong: the victim says that it renewed an hour ago, or in an hour.
func clockIsWrong(e *episode) (string, []*peers.Replica, func()) {
	by := []time.Duration{time.Hour, -time.Hour}[e.random.IntN(2)]
	renewed := make(chan struct{}, 100)
	e.victim.API.Break(1, faults.Fault{Verbs: []string{"create", "update"}, Resources: []string{"leases"}, Chance: 1, Sent: func(body []byte) []byte {
		var lease coordinationv1.Lease
		if err := json.Unmarshal(body, &lease); err != nil || lease.Spec.RenewTime == nil {
			return nil
		}
		moved := metav1.NewMicroTime(lease.Spec.RenewTime.Add(by))
		lease.Spec.RenewTime = &moved
		text, err := json.Marshal(&lease)
		if err != nil {
			return nil
		}
		select {
		case renewed <- struct{}{}:
		default:
		}
		return text
	}})
	// For longer than a Lease lasts.
	for range 4 {
		select {
		case <-renewed:
		case <-time.After(patience):
			e.t.Fatal("the victim does not renew its Lease")
		}
	}
	if why := knowing(e.t, others(e.victim), len(edges)); why != "" {
		e.t.Error(why)
	}
	return fmt.Sprintf("clock of %s off by %s", e.victim.Name, by), edges, e.healed
}

// scaling: from three replicas to one, and back.
func scaling(e *episode) (string, []*peers.Replica, func()) {
	order := e.shuffled()
	for i, r := range order[:2] {
		e.stops(r)
		e.moved(e.at(order[i+1:]))
	}
	return "scaled down to " + order[2].Name, order[2:], func() {
		restart(e.t, order[:2]...)
	}
}

// rollout replaces one replica after the other, each as soon as the one before is ready.
func rollout(e *episode) (string, []*peers.Replica, func()) {
	for _, r := range e.shuffled() {
		e.stops(r)
		restart(e.t, r)
		e.eventually(func() string {
			if !r.Ready(e.t.Context()) {
				return r.Name + " is not ready"
			}
			return ""
		})
		e.moved(e.readers)
	}
	return "rollout", edges, func() {}
}

// serverAway: the victim does not reach the API server until its Lease has expired. Its
// graphs are outdated in between, so the test does not check them.
func serverAway(e *episode) (string, []*peers.Replica, func()) {
	e.victim.API.Leave()
	e.eventually(func() string { return knowing(e.t, others(e.victim), len(edges)-1) })
	return e.victim.Name + " without API server until its Lease has expired", nil, e.healed
}

func (e *episode) shuffled() []*peers.Replica {
	order := slices.Clone(edges)
	e.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}
