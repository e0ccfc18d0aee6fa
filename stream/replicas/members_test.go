package replicas

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// shelf keeps Leases as an API server does.
type shelf struct {
	mu      sync.Mutex
	leases  map[string]*coordinationv1.Lease
	version int
	away    bool
	refused bool // writes
	denied  bool // lists
}

var (
	errAway = errors.New("connection refused")
	leases  = coordinationv1.Resource("leases")
)

func (s *shelf) List(context.Context, metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.away:
		return nil, errAway
	case s.denied:
		return nil, apierrors.NewForbidden(leases, "", errors.New("no rule allows it"))
	}
	list := &coordinationv1.LeaseList{}
	for _, l := range s.leases {
		list.Items = append(list.Items, *l.DeepCopy())
	}
	return list, nil
}

func (s *shelf) writeLocked(l *coordinationv1.Lease) *coordinationv1.Lease {
	if s.leases == nil {
		s.leases = make(map[string]*coordinationv1.Lease)
	}
	s.version++
	l = l.DeepCopy()
	l.ResourceVersion = strconv.Itoa(s.version)
	if l.UID == "" {
		l.UID = types.UID(l.ResourceVersion)
	}
	s.leases[l.Name] = l
	return l
}

func (s *shelf) Create(_ context.Context, l *coordinationv1.Lease, _ metav1.CreateOptions) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.away || s.refused:
		return nil, errAway
	case s.leases[l.Name] != nil:
		return nil, apierrors.NewAlreadyExists(leases, l.Name)
	}
	return s.writeLocked(l), nil
}

func (s *shelf) Update(_ context.Context, l *coordinationv1.Lease, _ metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.leases[l.Name]
	switch {
	case s.away || s.refused:
		return nil, errAway
	case before == nil || before.ResourceVersion != l.ResourceVersion:
		return nil, apierrors.NewConflict(leases, l.Name, nil)
	}
	return s.writeLocked(l), nil
}

func (s *shelf) Delete(_ context.Context, name string, _ metav1.DeleteOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leases[name] == nil {
		return apierrors.NewNotFound(leases, name)
	}
	delete(s.leases, name)
	return nil
}

func (s *shelf) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// TestWithoutRights: who may not list Leases when it starts ends, and says what it needs;
// who has joined stays.
func TestWithoutRights(t *testing.T) {
	for name, tt := range map[string]struct {
		joined    bool
		wantEnded bool
	}{
		"at the start": {wantEnded: true},
		"later":        {joined: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shelf := &shelf{denied: !tt.joined}
				ctx, cancel := context.WithCancel(t.Context())
				m := New(Options{Leases: shelf, Self: Member{Run: "a", Address: "10.0.0.1:8445", Wire: "1"}})
				ended := make(chan error, 1)
				go func() { ended <- m.Run(ctx) }()
				synctest.Wait()
				shelf.set(func() { shelf.denied = true })
				time.Sleep(2 * expiry)
				synctest.Wait()
				select {
				case err := <-ended:
					if !tt.wantEnded || !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "config/components/sharing") {
						t.Errorf("it ended with %v", err)
					}
				default:
					if tt.wantEnded {
						t.Error("it runs on")
					}
				}
				cancel()
				synctest.Wait()
			})
		})
	}
}

// replica is one that runs.
type replica struct {
	*Members
	stop func()
}

func start(t *testing.T, leases Leases, run string) *replica {
	t.Helper()
	m := New(Options{Leases: leases, Self: Member{Run: run, Address: "10.0.0.1:8445", Wire: "1"}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return &replica{m, stop}
}

func (r *replica) runs() []string {
	var out []string
	for _, m := range r.Live() {
		out = append(out, m.Run)
	}
	return out
}

func expect(t *testing.T, r *replica, want ...string) {
	t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, r.runs()); diff != "" {
		t.Error(diff)
	}
}

func TestMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		a := start(t, s, "a")
		expect(t, a, "a")
		b := start(t, s, "b")
		expect(t, b, "a", "b")
		time.Sleep(renewal)
		expect(t, a, "a", "b")

		// Who stops is gone at once for those who look, whoever renews.
		b.stop()
		time.Sleep(renewal)
		expect(t, a, "a")
	})
}

func TestCrashedMemberExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		// A clock an hour ahead, and one that is an hour behind.
		for run, off := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
			lease := &coordinationv1.Lease{}
			fill(lease, Member{Run: run, Address: "10.0.0.2:8445", Wire: "1"}, time.Now().Add(off))
			s.writeLocked(lease)
		}
		a := start(t, s, "a")
		expect(t, a, "a", "ahead", "behind")
		time.Sleep(expiry - time.Second)
		expect(t, a, "a", "ahead", "behind")
		time.Sleep(renewal)
		expect(t, a, "a")
		time.Sleep(removal)
		synctest.Wait()
		s.set(func() {
			if len(s.leases) != 1 {
				t.Errorf("%d Leases are left", len(s.leases))
			}
		})
	})
}

// TestNobodyIsGoneUnseen: an API server that is away takes no member, whatever the
// clocks say; who did not come back with it is found out afterwards.
func TestNobodyIsGoneUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		a, b, c := start(t, s, "a"), start(t, s, "b"), start(t, s, "c")
		time.Sleep(2 * renewal)
		expect(t, a, "a", "b", "c")
		s.set(func() { s.away = true })
		time.Sleep(time.Hour)
		expect(t, a, "a", "b", "c")
		s.set(func() { s.away, s.refused = false, true })
		time.Sleep(expiry - renewal)
		expect(t, b, "a", "b", "c")
		s.set(func() { s.refused = false })
		c.stop()
		time.Sleep(2 * renewal)
		expect(t, a, "a", "b")
		expect(t, b, "a", "b")
	})
}

// TestWritesRefused: who cannot renew is gone for the others, and is a member for
// itself: it goes on serving what it has.
func TestWritesRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		a := start(t, s, "a")
		refusing := &refusing{shelf: s}
		b := start(t, refusing, "b")
		time.Sleep(renewal)
		expect(t, a, "a", "b")
		s.set(func() { refusing.now = true })
		time.Sleep(expiry + renewal)
		expect(t, a, "a")
		expect(t, b, "a", "b")
	})
}

type refusing struct {
	*shelf
	now bool
}

func (r *refusing) Update(ctx context.Context, l *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	r.mu.Lock()
	now := r.now
	r.mu.Unlock()
	if now {
		return nil, errAway
	}
	return r.shelf.Update(ctx, l, o)
}

func TestForeignLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		good := func(change func(*coordinationv1.Lease)) {
			lease := &coordinationv1.Lease{}
			fill(lease, Member{Run: strconv.Itoa(len(s.leases)), Address: "10.0.0.2:8445", Wire: "1"}, time.Now())
			change(lease)
			s.writeLocked(lease)
		}
		good(func(l *coordinationv1.Lease) { delete(l.Annotations, wireAnnotation) })
		good(func(l *coordinationv1.Lease) { l.Annotations[addressAnnotation] = "no port" })
		good(func(l *coordinationv1.Lease) { l.Annotations[addressAnnotation] = ":8445" })
		good(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil })
		good(func(l *coordinationv1.Lease) { l.Spec.RenewTime = nil })
		good(func(l *coordinationv1.Lease) { l.Name = "graphview-replica-other" })
		// One of another version is there, whatever its address means.
		good(func(l *coordinationv1.Lease) {
			l.Annotations[wireAnnotation], l.Annotations[addressAnnotation] = "newer", "quic:somewhere"
		})
		a := start(t, s, "a")
		synctest.Wait()
		if got := a.runs(); !slices.Equal(got, []string{"4", "6", "a"}) {
			t.Errorf("%q", got)
		}
	})
}
