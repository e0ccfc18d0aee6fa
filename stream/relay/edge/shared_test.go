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

// TestShared: a change crosses once for all subscribers with the same rights, and is
// encoded once. The subscribers are sent one frame, not copies of it.
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
	s.channels(t, len(followers))
	before, bytes := s.shared.Encodings(), s.received(followers[0])
	const changes, size = 30, 4 << 10
	for i := range changes {
		s.setLarge([]string{"shop", "bank"}[i%2], fmt.Sprint("b", i), size)
		all[[]string{"shop", "bank"}[i%2]+"/"+fmt.Sprint("b", i)] = fmt.Sprint(s.version)
		wants(t, all, followers...)
	}
	if n := s.shared.Encodings() - before; n > 3*changes {
		t.Errorf("%d encodings of %d changes for 3 sets of rights", n, changes)
	}
	// Each change is seen under two of the three sets of rights.
	if n := s.received(followers[0]) - bytes; n < 2*changes*size || n > 3*changes*size {
		t.Errorf("%d bytes of %d changes came for 3 sets of rights", n, changes)
	}
	// Access to one more namespace is asked for, and resets no subscriber.
	s.put(all, "third", "c")
	wants(t, all, followers...)
	// One that may see other objects is reset, and the others are not.
	followers[0].let("bank", true)
	wants(t, all, followers...)
	for i, f := range followers {
		if want := map[bool]int{true: 1}[i == 0]; f.Resets() != want {
			t.Errorf("follower %d was reset %d times, want %d", i, f.Resets(), want)
		}
	}
	for _, f := range followers {
		f.stop()
	}
	s.channels(t, 0)
	if n := s.client.o.Ledger.Total(); n != 0 {
		t.Errorf("%d bytes are unread without a subscriber", n)
	}
}

// received is the number of bytes of frames that a follower's relay has received.
func (s *stage) received(f *follower) int {
	r := f.channel.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes
}

// TestLaggingSubscriber: a subscriber that does not read is a position at the holder, and catches up
// by the net change. The others are not slowed down.
func TestLaggingSubscriber(t *testing.T) {
	s := newStage(t)
	all := make(map[string]string)
	s.put(all, "shop", "a")
	fast := s.follow(t, newPerson("shop"), delivery.SubscribeOptions{})
	slow := s.follow(t, newPerson("shop"), delivery.SubscribeOptions{})
	wants(t, all, fast, slow)
	slow.hold.Lock()
	const size = 4 << 10
	for range 4 * minWindow / size {
		s.setLarge("shop", "b", size)
		all["shop/b"] = fmt.Sprint(s.version)
		wants(t, all, fast)
	}
	if n := s.client.o.Ledger.Total(); n > minWindow+2*size {
		t.Errorf("%d bytes are kept for one that does not read", n)
	}
	slow.hold.Unlock()
	wants(t, all, slow)
	if n := slow.sent["shop/b"]; n > 2*minWindow/size {
		t.Errorf("it was sent %d changes, want a window and the net one", n)
	}
	s.put(all, "shop", "c")
	wants(t, all, fast, slow)
	if fast.Resets()+slow.Resets() > 0 {
		t.Error("a subscriber was reset")
	}
}

// TestRandomReaders: whatever readers do and may see, each has in the end what it may see,
// and was never sent anything else.
func TestRandomReaders(t *testing.T) {
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
			s.channels(t, 0)
			if n := s.client.o.Ledger.Total(); n != 0 {
				t.Errorf("%d bytes are unread without a subscriber", n)
			}
		})
	}
}
