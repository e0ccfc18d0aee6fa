package edge

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"graphview.dev/graphview/delivery"
)

// put sets an object and notes its version.
func (s *stage) put(all map[string]string, namespace, name string) {
	s.set(namespace, name)
	all[namespace+"/"+name] = fmt.Sprint(s.version)
}

// TestShared: what is sent between two replicas does not grow with the subscribers, but
// with the sets of rights.
func TestShared(t *testing.T) {
	s := newStage(t)
	all := make(map[string]string)
	s.put(all, "shop", "a")
	s.put(all, "bank", "a")
	var followers []*follower
	for range 20 {
		for _, sees := range [][]string{{"shop"}, {"bank"}, {"shop", "bank"}} {
			followers = append(followers, s.follow(t, newPerson(sees...), delivery.SubscribeOptions{}))
		}
	}
	wants(t, all, followers...)
	s.channels(t, 3, 0)
	before := s.shared.Encodings()
	const changes = 30
	for i := range changes {
		s.put(all, []string{"shop", "bank"}[i%2], fmt.Sprint("b", i))
		wants(t, all, followers...)
	}
	if n := s.shared.Encodings() - before; n > 3*changes {
		t.Errorf("%d encodings of %d changes for 3 sets of rights", n, changes)
	}
	if n := s.Subscribers(); n != 3 {
		t.Errorf("the holder has %d subscribers, want 3", n)
	}
	// A namespace more: what everybody may see there is asked, and nobody begins anew.
	s.put(all, "third", "c")
	wants(t, all, followers...)
	s.channels(t, 3, 0)
	// One that comes to see other things leaves, and the others stay as they are.
	followers[0].let("bank", true)
	wants(t, all, followers...)
	s.channels(t, 3, 0)
	for i, f := range followers {
		if want := map[bool]int{true: 1}[i == 0]; f.resets != want {
			t.Errorf("follower %d was reset %d times, want %d", i, f.resets, want)
		}
	}
	for _, f := range followers {
		f.stop()
	}
	s.channels(t, 0, 0)
	if n := s.client.unread.all.Load(); n != 0 {
		t.Errorf("%d bytes are unread by nobody", n)
	}
}

// TestSharedByWhoWantsTheSame: who leaves inferred references out shares a channel with those
// who do so too, and with no others.
func TestSharedByWhoWantsTheSame(t *testing.T) {
	s := newStage(t)
	all := make(map[string]string)
	s.put(all, "shop", "a")
	var followers []*follower
	for range 3 {
		for _, o := range []delivery.SubscribeOptions{{}, {ExcludeInferred: true}} {
			followers = append(followers, s.follow(t, newPerson("shop"), o))
		}
	}
	wants(t, all, followers...)
	s.channels(t, 2, 0)
	s.put(all, "shop", "b")
	wants(t, all, followers...)
	s.channels(t, 2, 0)
}

// TestLaggard: a subscriber that does not read is a position at the holder, whoever it
// shares a channel with, and comes back to the others by the net change.
func TestLaggard(t *testing.T) {
	s := newStage(t)
	all := make(map[string]string)
	s.put(all, "shop", "a")
	fast := s.follow(t, newPerson("shop"), delivery.SubscribeOptions{})
	slow := s.follow(t, newPerson("shop"), delivery.SubscribeOptions{})
	wants(t, all, fast, slow)
	s.channels(t, 1, 0)
	slow.hold.Lock()
	for range 2 * keptDeliveries {
		s.put(all, "shop", "b")
		wants(t, all, fast)
	}
	s.channels(t, 0, 2)
	relay := fast.channel.relay
	relay.mu.Lock()
	if kept := relay.kept; kept > 4<<10 {
		t.Errorf("%d bytes are kept for one that does not read", kept)
	}
	relay.mu.Unlock()
	slow.hold.Unlock()
	wants(t, all, slow)
	if n := slow.sent["shop/b"]; n > 3 {
		t.Errorf("it was sent %d changes, want the net one", n)
	}
	s.put(all, "shop", "c")
	wants(t, all, fast, slow)
	s.channels(t, 1, 0)
	if fast.resets+slow.resets > 0 {
		t.Error("somebody was reset")
	}
}

// TestJoinOfSlowReaders: whatever readers do and may see, each has what it may see in
// the end, and has never been sent what it never might.
func TestJoinOfSlowReaders(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 20))
			s := newStage(t)
			all := make(map[string]string)
			namespaces := []string{"one", "two", "three", "secret"}
			var followers []*follower
			held := make(map[*follower]bool)
			come := func() {
				var sees []string
				for _, n := range namespaces[:3] {
					if random.IntN(2) == 0 {
						sees = append(sees, n)
					}
				}
				followers = append(followers, s.follow(t, newPerson(sees...), delivery.SubscribeOptions{}))
			}
			for range 6 {
				come()
			}
			for range 400 {
				i := random.IntN(len(followers))
				f := followers[i]
				switch random.IntN(20) {
				case 0:
					come()
				case 1:
					if len(followers) > 2 && !held[f] {
						f.stop()
						followers = append(followers[:i], followers[i+1:]...)
					}
				case 2, 3:
					f.let(namespaces[random.IntN(3)], random.IntN(2) == 0)
				case 4, 5:
					if !held[f] {
						f.hold.Lock()
						held[f] = true
					}
				case 6, 7, 8:
					if held[f] {
						f.hold.Unlock()
						delete(held, f)
					}
				default:
					s.put(all, namespaces[random.IntN(4)], fmt.Sprint(random.IntN(10)))
				}
				if random.IntN(4) == 0 {
					time.Sleep(time.Duration(random.IntN(300)) * time.Microsecond)
				}
			}
			for f := range maps.Clone(held) {
				f.hold.Unlock()
			}
			wants(t, all, followers...)
			for i, f := range followers {
				for n := range 10 {
					if f.sent[fmt.Sprint("secret/", n)] > 0 {
						t.Errorf("follower %d was sent a secret", i)
					}
				}
				f.stop()
			}
			s.channels(t, 0, 0)
			if n := s.client.unread.all.Load(); n != 0 {
				t.Errorf("%d bytes are unread by nobody", n)
			}
		})
	}
}
