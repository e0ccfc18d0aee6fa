package fleet

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/test/fixture"
	"graphview.dev/test/seed"
	"graphview.dev/test/subscriber"
)

var episodes = flag.Int("episodes", 12, "how many episodes TestEpisodes runs, each with a seed of its own")

// TestEpisodes: while tunnels are cut, slow, or frozen in one or both directions, for a while or for
// ever, links are suspended, and replicas of the hub and of the member come and go, the subscribers of
// two replicas of the hub have the member's graph in the end. None of them is reset, since the member
// keeps the view all the time.
func TestEpisodes(t *testing.T) {
	m, is, namespace, view := startShown(t)
	link := is.Name
	all := &membership{changed: make(chan struct{})}
	first, _ := all.start(t, "a", is)
	second, _ := all.start(t, "b", is)
	stop := m.dial(t, first, link)
	following := map[string]*subscriber.Subscriber{}
	for name, h := range map[string]*testHub{"a": first, "b": second} {
		following[name] = h.watch(t, "alice", pathOf(link, namespace)+"/web")
		equals(t, following[name], m, view)
	}
	begun := map[string]int{}
	for name, s := range following {
		begun[name] = s.Resets()
	}

	c := fixture.Client(t, m.plane.Config())
	var names []string
	var leave func()
	base := seed.Of(t)
	for i := range *episodes {
		seed := base + uint64(i)
		random := rand.New(rand.NewPCG(seed, 0))
		log := fmt.Sprint("seed ", seed, ":")
		var thaws []func()
		for range 1 + random.IntN(4) {
			switch random.IntN(10) {
			case 0:
				log += " cut"
				first.lines.cut()
			case 5:
				log += " slow"
				first.lines.slow(time.Duration(random.IntN(50)) * time.Millisecond)
			case 6, 7:
				// The hub is deaf, mute, or both.
				in, out := random.IntN(3) > 0, random.IntN(3) > 0
				log += fmt.Sprintf(" freeze(%t,%t)", in, out)
				thaw := first.lines.freeze(in, out)
				if random.IntN(3) == 0 {
					log += " for ever"
				} else {
					thaws = append(thaws, thaw)
				}
			case 8:
				// One replica of the hub after the other ends and begins.
				log += " roll"
				for _, h := range []*testHub{first, second} {
					h.restart(t, is)
				}
			case 1:
				log += " suspend"
				for _, h := range []*testHub{first, second} {
					suspended := is
					suspended.Suspended = true
					if err := h.Apply(suspended); err != nil {
						t.Fatal(err)
					}
				}
			case 2:
				log += " restart"
				stop()
				stop = m.dial(t, first, link)
			case 3:
				if leave == nil {
					log += " join"
					_, leave = all.start(t, fmt.Sprint("c-", seed), is)
				} else {
					log += " leave"
					leave()
					leave = nil
				}
			case 4:
				if len(names) > 0 {
					log += " delete"
					gone := random.IntN(len(names))
					if err := c.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: names[gone]}}); err != nil {
						t.Fatal(err)
					}
					names = slices.Delete(names, gone, gone+1)
				}
			default:
				log += " create"
				name := fmt.Sprint("object-", seed, "-", random.Uint32())
				createConfigMap(t, m.plane, namespace, name)
				names = append(names, name)
			}
			for _, h := range []*testHub{first, second} {
				if err := h.Apply(is); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond) // the time of the next fault
		}
		for _, thaw := range thaws {
			thaw()
		}
		first.lines.slow(0)
		t.Log(log)
		for name, s := range following {
			equals(t, s, m, view)
			if n := s.Resets() - begun[name]; n > 0 {
				t.Fatalf("%s: the subscriber of replica %s was reset", log, name)
			}
		}
	}
}
