package replicas

import (
	"context"
	"errors"
	"fmt"
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

// shelf stores Leases as the API server does.
type shelf struct {
	mu      sync.Mutex
	leases  map[string]*coordinationv1.Lease
	version int
	away    bool
	refused string // the Lease that cannot be written; "all": none can
	denied  bool   // lists
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

// refusesLocked reports whether a Lease cannot be written.
func (s *shelf) refusesLocked(name string) bool {
	return s.away || s.refused == "all" || s.refused == name
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
	case s.refusesLocked(l.Name):
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
	case s.refusesLocked(l.Name):
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

// put writes the Lease of another replica, renewed at a time and changed.
func (s *shelf) put(name, run string, renewed time.Time, change func(*coordinationv1.Lease)) {
	lease := &coordinationv1.Lease{}
	if stored := s.leases[leasePrefix+name]; stored != nil {
		lease = stored.DeepCopy()
	}
	fill(lease, Member{Name: name, Run: run, Address: "10.0.0.2:8445", Wire: "1"}, nil, renewed)
	if change != nil {
		change(lease)
	}
	s.writeLocked(lease)
}

func (s *shelf) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// TestWithoutRights: a replica that is not allowed to list Leases ends, unless it has
// joined already.
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
				m := New(Options{Leases: shelf, Self: Member{Name: "a", Run: "a1", Address: "10.0.0.1:8445", Wire: "1"}})
				ended := make(chan error, 1)
				go func() { ended <- m.Run(ctx) }()
				time.Sleep(renewal)
				synctest.Wait()
				shelf.set(func() { shelf.denied = true })
				time.Sleep(2 * expiry)
				synctest.Wait()
				select {
				case err := <-ended:
					if !tt.wantEnded || !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "config/rbac") {
						t.Errorf("Run returned %v", err)
					}
				default:
					if tt.wantEnded {
						t.Error("Run did not return")
					}
				}
				cancel()
				synctest.Wait()
			})
		})
	}
}

// replica is a running Members.
type replica struct {
	*Members
	stop func()
}

func start(t *testing.T, leases *shelf, name string) *replica {
	t.Helper()
	return startWith(t, Options{Leases: leases, Self: Member{Name: name, Run: name + "1", Address: "10.0.0.1:8445", Wire: "1"}})
}

func startWith(t *testing.T, o Options) *replica {
	t.Helper()
	m := New(o)
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

func (r *replica) names() []string {
	var out []string
	for _, m := range r.Live() {
		out = append(out, m.Name)
	}
	return out
}

func expect(t *testing.T, r *replica, want ...string) {
	t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, r.names()); diff != "" {
		t.Error(diff)
	}
}

func TestMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		a := start(t, s, "a")
		expect(t, a)
		time.Sleep(renewal)
		expect(t, a, "a")
		b := start(t, s, "b")
		time.Sleep(renewal)
		expect(t, a, "a", "b")
		expect(t, b, "a", "b")

		// The others see at their next list that one has stopped.
		b.stop()
		time.Sleep(renewal)
		expect(t, a, "a")
	})
}

// TestStartTogether: no replica considers itself alone while others start.
func TestStartTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		three := []*replica{start(t, s, "a"), start(t, s, "b"), start(t, s, "c")}
		for _, r := range three {
			<-r.Joined()
			expect(t, r, "a", "b", "c")
		}
	})
}

// TestRestartedReplica: the container of a pod is restarted, several times. The pod
// remains one member.
func TestRestartedReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		for i := range 8 {
			s.put("b", fmt.Sprint("b", i), time.Now(), nil)
		}
		a, b := start(t, s, "a"), start(t, s, "b")
		time.Sleep(renewal)
		expect(t, a, "a", "b")
		expect(t, b, "a", "b")
		if m := a.Live()[1]; m.Run != "b1" {
			t.Errorf("b is run %s, want the present one", m.Run)
		}
	})
}

// TestExpiredStaysExpired: a replica that has not listed for a while does not give a
// Lease that had expired before another chance.
func TestExpiredStaysExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.put("crashed", "1", time.Now(), nil)
		a, b := start(t, s, "a"), start(t, s, "b")
		time.Sleep(expiry + renewal)
		expect(t, a, "a", "b")
		s.set(func() { s.away = true })
		time.Sleep(45 * time.Second)
		s.set(func() { s.away = false })
		time.Sleep(renewal)
		expect(t, a, "a", "b")
		expect(t, b, "a", "b")
	})
}

func TestCrashedMemberExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		// The other replica's clock is an hour ahead or behind.
		for name, off := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
			s.put(name, "1", time.Now().Add(off), nil)
		}
		a := start(t, s, "a")
		time.Sleep(renewal)
		expect(t, a, "a", "ahead", "behind")
		time.Sleep(expiry - renewal - time.Second)
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

// TestUnavailable: no member expires while the API server is unavailable. One that has
// stopped meanwhile expires afterwards.
func TestUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		a, b, c := start(t, s, "a"), start(t, s, "b"), start(t, s, "c")
		time.Sleep(2 * renewal)
		expect(t, a, "a", "b", "c")
		s.set(func() { s.away = true })
		time.Sleep(time.Hour)
		expect(t, a, "a", "b", "c")
		s.set(func() { s.away, s.refused = false, "all" })
		time.Sleep(expiry - renewal)
		expect(t, b, "a", "b", "c")
		s.set(func() { s.refused = "" })
		c.stop()
		time.Sleep(2 * renewal)
		expect(t, a, "a", "b")
		expect(t, b, "a", "b")
	})
}

// TestWritesRefused: a replica that cannot renew its Lease expires for the others, and
// remains a member for itself.
func TestWritesRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		a := start(t, s, "a")
		b := start(t, s, "b")
		time.Sleep(renewal)
		expect(t, a, "a", "b")
		s.set(func() { s.refused = leasePrefix + "b" })
		time.Sleep(expiry + renewal)
		expect(t, a, "a")
		expect(t, b, "a", "b")
	})
}

// TestNeverAnnounced: a replica that cannot write its Lease knows the others, and is not a
// member.
func TestNeverAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		a := start(t, s, "a")
		synctest.Wait()
		s.set(func() { s.refused = "all" })
		time.Sleep(renewal)
		b := start(t, s, "b")
		<-b.Joined()
		expect(t, b, "a")
		expect(t, a, "a")
	})
}

func TestForeignLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		good := func(change func(*coordinationv1.Lease)) {
			s.put(strconv.Itoa(len(s.leases)), "1", time.Now(), change)
		}
		good(func(l *coordinationv1.Lease) { delete(l.Annotations, wireAnnotation) })
		good(func(l *coordinationv1.Lease) { l.Annotations[addressAnnotation] = "no port" })
		good(func(l *coordinationv1.Lease) { l.Annotations[addressAnnotation] = ":8445" })
		good(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil })
		good(func(l *coordinationv1.Lease) { l.Spec.RenewTime = nil })
		good(func(l *coordinationv1.Lease) { l.Name = "other" })
		// One of another version is a member: its address is not checked.
		good(func(l *coordinationv1.Lease) {
			l.Annotations[wireAnnotation], l.Annotations[addressAnnotation] = "newer", "quic:somewhere"
		})
		a := start(t, s, "a")
		time.Sleep(renewal)
		synctest.Wait()
		if got := a.names(); !slices.Equal(got, []string{"4", "6", "a"}) {
			t.Errorf("%q", got)
		}
	})
}

// TestStale: a replica that the API server does not answer knows so after one renewal, and
// when it is answered again. A refusal is an answer.
func TestStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		var said []bool
		m := startWith(t, Options{Leases: s, Self: Member{Name: "a", Run: "a", Wire: "1"}, Stale: func(stale bool) { said = append(said, stale) }})
		time.Sleep(2 * renewal)
		s.set(func() { s.denied = true })
		time.Sleep(2 * renewal)
		s.set(func() { s.denied, s.away = false, true })
		before := time.Now()
		time.Sleep(2 * renewal)
		if m.Renewed().After(before) {
			t.Error("it says that the API server has answered")
		}
		s.set(func() { s.away = false })
		time.Sleep(2 * renewal)
		m.stop()
		if diff := cmp.Diff([]bool{true, false}, said); diff != "" {
			t.Error(diff)
		}
	})
}
