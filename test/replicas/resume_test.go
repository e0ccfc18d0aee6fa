package replicas

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/client"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
	"graphview.dev/test/oracle"
	"graphview.dev/test/patience"
	"graphview.dev/test/subscriber"
)

var (
	resumeObjects   = flag.Int("objects", 600, "objects of TestResume")
	resumeFollowers = flag.Int("followers", 30, "clients of TestResume, with ten different rights")
	resumeBefore    = flag.String("before", "", "manager of an older version, to which TestResume goes back, and from which it is upgraded")
)

const resumeNamespaces = 5

// rights has the namespaces that the users of each group may read, one bit for each.
var rights = [...]int{0b11111, 0b00001, 0b00011, 0b00101, 0b01001, 0b10001, 0b00111, 0b01011, 0b10011, 0b01101}

// crowd is a view of several namespaces, and clients that follow it with different rights.
type crowd struct {
	*testing.T

	admin      kube.Client
	namespaces []string
	manifest   string // of the view
	marks      int    // changes that every client may see
	followers  []*follower
	stop       func() // ends the clients; their graphs stay
}

// follower is a client that is never reset, whatever happens to the operator.
type follower struct {
	right  int
	dialer *dialer
	sub    *client.Subscription
	resets atomic.Int64
	mark   atomic.Int64 // the newest that it has seen
	fewest atomic.Int64 // vertices that it had when it was last whole; 0: any number is right
	count  atomic.Int64
}

// dialer connects to one replica after the other, and counts the bytes that come.
type dialer struct {
	next     atomic.Int64
	received atomic.Int64

	mu   sync.Mutex
	down bool
	open []net.Conn
}

type countedConn struct {
	net.Conn

	received *atomic.Int64
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received.Add(int64(n))
	return n, err
}

func (d *dialer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		return nil, net.ErrClosed
	}
	at := replicas[int(d.next.Add(1))%len(replicas)]
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprint("localhost:", at.Port()))
	if err != nil {
		return nil, err
	}
	d.open = append(d.open, conn)
	return countedConn{conn, &d.received}, nil
}

// cut closes all connections, and refuses others until it is called with false.
func (d *dialer) cut(down bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.down = down
	for _, conn := range d.open {
		_ = conn.Close()
	}
	d.open = nil
}

// clientOf returns a client with the credentials of a configuration, whose connections lead to one replica after the
// other.
func clientOf(t *testing.T, d *dialer, credentials *rest.Config) *client.Client {
	t.Helper()
	config := fixture.TLS(t, credentials)
	config.ServerName = "localhost"
	config.NextProtos = []string{"http/1.1"}
	own := &http.Transport{TLSClientConfig: config, DialContext: d.dial}
	t.Cleanup(own.CloseIdleConnections)
	c, err := client.NewForHTTP("https://localhost", &http.Client{Transport: own})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *crowd) open(right int) (*dialer, *client.Subscription) {
	d := &dialer{}
	d.next.Store(int64(len(c.followers)))
	user := cluster.ClientConfig(fmt.Sprint("user-", right), fmt.Sprint("resume-", right))
	return d, clientOf(c.T, d, user).Watch(c.namespaces[0], "resume", client.Options{MaxPause: time.Second, Content: client.ContentSummary})
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{T: t, admin: fixture.Client(t, cluster.Config())}
	for range resumeNamespaces {
		c.namespaces = append(c.namespaces, fixture.Namespace(t, cluster, c.admin, "resume"))
	}
	c.permit()
	var wg sync.WaitGroup
	for n, namespace := range c.namespaces {
		wg.Go(func() {
			for i := n; i < *resumeObjects; i += resumeNamespaces {
				account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("account-", i)}}
				for j := range 6 {
					account.Secrets = append(account.Secrets, corev1.ObjectReference{Name: fmt.Sprint("secret-", i, "-", j)})
				}
				if err := c.admin.Create(t.Context(), account); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	c.view("configmaps", "serviceaccounts", "secrets")
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var done sync.WaitGroup
	c.stop = func() {
		cancel()
		done.Wait()
	}
	t.Cleanup(func() {
		c.stop()
		for _, f := range c.followers {
			f.sub.Close()
		}
	})
	for i := range *resumeFollowers {
		f := &follower{right: i % len(rights)}
		f.dialer, f.sub = c.open(f.right)
		c.followers = append(c.followers, f)
		done.Go(func() { f.follow(ctx, t) })
	}
	c.change(0)
	return c
}

// view makes the view show some resources.
func (c *crowd) view(resources ...string) {
	c.Helper()
	c.manifest = fmt.Sprintf(`{apiVersion: graphview.dev/v1alpha1, kind: GraphView, metadata: {name: resume, namespace: %s},
spec: {queries: [{include: {resourceSelectorExpression: "resource in ['%s']"}}], namespaces: {names: [%s]}}}`,
		c.namespaces[0], strings.Join(resources, "', '"), strings.Join(c.namespaces, ", "))
	fixture.Apply(c.T, cluster, c.manifest)
}

// permit lets each group open the view, and read its namespaces.
func (c *crowd) permit() {
	c.Helper()
	var manifest strings.Builder
	role := func(namespace, name, group, resources string, to []int) {
		fmt.Fprintf(&manifest, `---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: %[2]s, namespace: %[1]s}, rules: [{apiGroups: ["%[3]s"], resources: [%[4]s], verbs: [get, list, watch]}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: %[2]s, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %[2]s}
subjects:
`, namespace, name, group, resources)
		for _, right := range to {
			fmt.Fprintf(&manifest, "- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: resume-%d}\n", right)
		}
	}
	var all []int
	for right := range rights {
		all = append(all, right)
	}
	role(c.namespaces[0], "graphs", "stream.graphview.dev", "graphs", all)
	for n, namespace := range c.namespaces {
		role(namespace, "objects", "", "configmaps, serviceaccounts, secrets", slices.DeleteFunc(slices.Clone(all), func(right int) bool {
			return rights[right]&(1<<n) == 0
		}))
	}
	fixture.Apply(c.T, cluster, manifest.String())
	c.grant(2)
}

func (f *follower) follow(ctx context.Context, t *testing.T) {
	newest := int64(0)
	for {
		m, err := f.sub.Receive(ctx)
		if err != nil {
			if ctx.Err() == nil {
				t.Error(err)
			}
			return
		}
		if m.Reset {
			f.resets.Add(1)
		}
		n := int64(len(f.sub.Graph().Vertices))
		if least := f.fewest.Load(); n < least {
			t.Errorf("a graph had %d vertices, and then %d, though none was deleted", least, n)
			f.fewest.Store(n)
		}
		for i := range m.Actions {
			var mark int64
			if set := m.Actions[i].SetVertex; set != nil {
				if _, err := fmt.Sscanf(set.Key.Name, "mark-%d", &mark); err == nil {
					newest = max(newest, mark)
				}
			}
		}
		if m.Rev != "" {
			f.count.Store(n)
			f.mark.Store(newest)
		}
	}
}

// change writes some objects and one that all may see. It returns when all clients have seen that.
func (c *crowd) change(objects int) {
	c.Helper()
	for i := range objects {
		namespace := c.namespaces[i%resumeNamespaces]
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("account-", i)}}
		patch := kube.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"secrets":[{"name":"changed-%d"}]}`, c.marks))
		c.patiently(func(ctx context.Context) error { return c.admin.Patch(ctx, account, patch) })
	}
	c.marks++
	mark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespaces[0], Name: fmt.Sprint("mark-", c.marks)}}
	c.patiently(func(ctx context.Context) error { return c.admin.Create(ctx, mark) })
	c.level()
}

// patiently repeats a write until the API server takes it.
func (c *crowd) patiently(write func(context.Context) error) {
	c.Helper()
	var last error
	if err := wait.PollUntilContextTimeout(c.Context(), 100*time.Millisecond, patience.For(time.Minute), true, func(ctx context.Context) (bool, error) {
		last = write(ctx)
		return last == nil, nil
	}); err != nil {
		c.Fatal(last)
	}
}

// level waits until all clients have seen the newest mark.
func (c *crowd) level() {
	c.Helper()
	fixture.Eventually(c.T, 3*time.Minute, 20*time.Millisecond, func() string {
		late := 0
		for _, f := range c.followers {
			if f.mark.Load() < int64(c.marks) {
				late++
			}
		}
		if late > 0 {
			return fmt.Sprintf("%d of %d clients have not seen mark %d", late, len(c.followers), c.marks)
		}
		return ""
	})
}

// expect sets the number of vertices below which no client may fall.
func (c *crowd) expect(loses int) {
	for _, f := range c.followers {
		f.fewest.Store(f.count.Load() - int64(loses))
	}
}

func (c *crowd) totals() (received, resets int64, processor float64) {
	c.Helper()
	for _, f := range c.followers {
		received += f.dialer.received.Load()
		resets += f.resets.Load()
	}
	for _, r := range replicas {
		seconds, err := r.Metric(c.Context(), "process_cpu_seconds_total")
		if err != nil {
			c.Fatal(err)
		}
		processor += seconds
	}
	return received, resets, processor
}

// whole compares the graph of each replica with the oracle's.
func (c *crowd) whole() {
	c.Helper()
	view, err := oracle.ParseView([]byte(c.manifest))
	if err != nil {
		c.Fatal(err)
	}
	want, err := oracle.Build(c.Context(), cluster.Config(), view)
	if err != nil {
		c.Fatal(err)
	}
	admin := fixture.HTTP1(c.T, cluster.Config())
	for i, r := range replicas {
		address := fmt.Sprintf("%s/apis/stream.graphview.dev/v1alpha1/watch/namespaces/%s/graphs/resume", r.URL(), c.namespaces[0])
		got := subscriber.New()
		ctx, cancel := context.WithCancel(c.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			got.Persist(ctx, func(ctx context.Context, _ string) (subscriber.Stream, error) {
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
				if err != nil {
					return nil, err
				}
				return subscriber.Response(admin, request)
			})
		}()
		why := fixture.Wait(c.Context(), time.Minute, 50*time.Millisecond, func() string { return got.Differs(want) })
		cancel()
		<-done
		if why != "" {
			c.Fatalf("replica %d: %s", i, why)
		}
	}
}

// equal compares the graph of each client with that of another one that has just begun.
func (c *crowd) equal() {
	c.Helper()
	c.whole()
	c.stop()
	fresh := make([]*client.Graph, len(rights))
	for right := range rights {
		_, sub := c.open(right)
		for fresh[right] == nil {
			m, err := sub.Receive(c.Context())
			if err != nil {
				c.Fatal(err)
			}
			if m.Rev != "" {
				fresh[right] = sub.Graph()
			}
		}
		sub.Close()
	}
	// A client that has the newest mark may lack older changes of ServiceAccounts, since these have another watch.
	ctx, cancel := context.WithTimeout(c.Context(), patience.For(time.Minute))
	defer cancel()
	for i, f := range c.followers {
		want := fresh[f.right]
		differs := func() string {
			return cmp.Diff(want.Vertices, f.sub.Graph().Vertices) + cmp.Diff(want.Arcs, f.sub.Graph().Arcs)
		}
		for diff := differs(); diff != ""; diff = differs() {
			if _, err := f.sub.Receive(ctx); err != nil {
				c.Errorf("client %d, %v (-fresh +client):\n%s", i, err, diff)
				break
			}
		}
	}
}

// anyNumber is more than there are.
const anyNumber = 1 << 30

// trouble is something that ended every stream with a reset before clients said what they have.
type trouble struct {
	name string
	// loses is the number of objects that a client may lose.
	loses int
	// resets is how often each client may be reset.
	resets int64
	// restarts: the processor time of replicas that start again counts from 0.
	restarts bool
	play     func(c *crowd)
}

var troubles = [...]trouble{
	{name: "connections cut for 1 s", play: func(c *crowd) { c.cutAll(func() { time.Sleep(time.Second) }) }},
	{name: "one replica of three killed", restarts: true, play: func(c *crowd) {
		replicas[0].Kill()
		c.change(1)
		startAgain(c, replicas[0])
	}},
	{name: "all replaced in turn", restarts: true, play: func(c *crowd) {
		for _, r := range replicas {
			ctx, cancel := context.WithTimeout(c.Context(), patience.For(time.Minute))
			r.Stop(ctx)
			cancel()
			startAgain(c, r)
		}
	}},
	{name: "all killed and started", restarts: true, play: func(c *crowd) {
		for _, r := range replicas {
			r.Kill()
		}
		for _, r := range replicas {
			startAgain(c, r)
		}
	}},
	{name: "cut for hours, all replaced meanwhile", restarts: true, play: func(c *crowd) {
		c.cutAll(func() {
			for _, r := range replicas {
				r.Kill()
				startAgain(c, r)
			}
		})
	}},
	{name: "spec edited", play: func(c *crowd) { c.view("configmaps", "serviceaccounts", "secrets", "limitranges") }},
}

func (c *crowd) cutAll(meanwhile func()) {
	for _, f := range c.followers {
		f.dialer.cut(true)
	}
	meanwhile()
	for _, f := range c.followers {
		f.dialer.cut(false)
	}
}

func startAgain(c *crowd, r *operator.Operator) {
	c.Helper()
	if err := r.Restart(); err != nil {
		c.Fatal(err)
	}
	eventually(c.T, func() string {
		if !r.Ready(c.Context()) {
			return "the replica is not ready"
		}
		return ""
	})
}

// grant lets one group read one more namespace, which then no other one may.
func (c *crowd) grant(right int) {
	c.Helper()
	fixture.Apply(c.T, cluster, fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: more, namespace: %s},
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: objects}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: resume-%d}]}`, c.namespaces[4], right))
}

// moved waits until the numbers of vertices of the clients in some groups have changed enough.
func (c *crowd) moved(enough map[int]func(before, now int64) bool) {
	c.Helper()
	before := make(map[*follower]int64)
	for _, f := range c.followers {
		before[f] = f.count.Load()
	}
	fixture.Eventually(c.T, 3*time.Minute, 50*time.Millisecond, func() string {
		for _, f := range c.followers {
			if is := enough[f.right]; is != nil && !is(before[f], f.count.Load()) {
				return fmt.Sprintf("a client of group %d has %d vertices, as before", f.right, f.count.Load())
			}
		}
		return ""
	})
}

// TestResume: clients with different rights go on after everything that ends their streams or makes their revisions
// worthless. None is reset, none has fewer objects than there are at any moment, and each receives a part of its
// graph. With -v the test prints a table.
func TestResume(t *testing.T) {
	began := time.Now()
	c := newCrowd(t)
	whole, _, cost := c.totals()
	each := int64(len(c.followers))
	t.Logf("%d objects, %d clients; first graphs: %v, %d kB each, at most %.2f s of processor with the start of the view",
		*resumeObjects, each, time.Since(began).Round(time.Millisecond), whole/each/1000, cost)
	c.change(0)
	saved := filepath.Join(t.TempDir(), "etcd")
	if err := cluster.SaveData(t.Context(), saved); err != nil {
		t.Fatal(err)
	}
	c.change(1)
	play := func(trouble trouble) {
		c.expect(trouble.loses)
		before, resetsBefore, processorBefore := c.totals()
		began := time.Now()
		trouble.play(c)
		c.change(max(1, *resumeObjects/1000))
		took := time.Since(began)
		received, resets, processor := c.totals()
		if trouble.restarts {
			processorBefore = 0
		}
		t.Logf("%-40s level after %6.1f s, %5.1f %% of a first graph, %5.2f s of processor, %d resets",
			trouble.name, took.Seconds(), 100*float64(received-before)/float64(whole), processor-processorBefore, resets-resetsBefore)
		if resets > resetsBefore+trouble.resets*each {
			t.Errorf("%s: clients were reset %d times", trouble.name, resets-resetsBefore)
		}
	}
	for _, trouble := range troubles {
		play(trouble)
	}
	play(trouble{name: "etcd restored to an older revision", loses: c.marks, play: func(*crowd) {
		if err := cluster.RestoreData(t.Context(), saved); err != nil {
			t.Fatal(err)
		}
	}})
	play(trouble{name: "a right gained, and another one lost", loses: anyNumber, play: func(c *crowd) {
		c.grant(1)
		c.moved(map[int]func(before, now int64) bool{
			1: func(before, now int64) bool { return now > before },
			2: func(before, now int64) bool { return now < before },
		})
	}})
	if *resumeBefore != "" {
		play(trouble{name: "replaced by the version before", resets: 1, loses: anyNumber, restarts: true, play: func(c *crowd) { c.become(*resumeBefore) }})
		play(trouble{name: "upgraded from the version before", restarts: true, play: func(c *crowd) { c.become(binary) }})
	}
	c.equal()
}

// become replaces all replicas in turn by those of another version.
func (c *crowd) become(program string) {
	c.Helper()
	for i, r := range replicas {
		ctx, cancel := context.WithTimeout(c.Context(), patience.For(time.Minute))
		r.Stop(ctx)
		cancel()
		name := fmt.Sprint("replica-", i, "-", filepath.Base(filepath.Dir(program)))
		other, err := operator.Start(cluster, operator.Options{Binary: program, Name: name, Env: []string{"POD_NAME=" + name}, Args: []string{"--leader-elect"}})
		if err != nil {
			c.Fatal(err)
		}
		replicas[i] = other
	}
}
