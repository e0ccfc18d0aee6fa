package integration

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/seed"
	"graphview.dev/test/workload"
)

// texts is a watch.Handler that has the JSON of all objects.
type texts struct {
	mu     sync.Mutex
	texts  map[string]string
	synced bool
}

func (h *texts) Set(o *watch.Decoded) {
	text, err := o.JSON()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.texts[o.Namespace()+"/"+o.Name()] = fmt.Sprint(string(text), err)
}

func (h *texts) VersionOnly(*watch.Object) {}

func (h *texts) Delete(o *watch.Object) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.texts, o.Namespace()+"/"+o.Name())
}

func (h *texts) Invalid(namespace, name string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.texts[namespace+"/"+name] = fmt.Sprint(err)
}

func (h *texts) State(s watch.State) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.synced = s.Synced
}

// jsonServer makes the API server answer in JSON whatever is accepted.
type jsonServer struct{ next http.RoundTripper }

func (s jsonServer) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	types := slices.DeleteFunc(strings.Split(request.Header.Get("Accept"), ","), func(t string) bool {
		return strings.HasPrefix(t, runtime.ContentTypeProtobuf)
	})
	request.Header.Set("Accept", strings.Join(types, ","))
	return s.next.RoundTrip(request)
}

func (s jsonServer) WrappedRoundTripper() http.RoundTripper { return s.next }

// newerServer gives the first object of each list in Protobuf a field that this version does not know.
type newerServer struct{ next http.RoundTripper }

func (s newerServer) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := s.next.RoundTrip(request)
	if err != nil || response.Header.Get("Content-Type") != runtime.ContentTypeProtobuf || response.StatusCode != http.StatusOK || response.Header.Get("Content-Encoding") != "" {
		return response, err
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return response, err
	}
	_ = response.Body.Close()
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(withUnknownField(answer))), -1
	response.Header.Del("Content-Length")
	return response, nil
}

func (s newerServer) WrappedRoundTripper() http.RoundTripper { return s.next }

// withUnknownField returns a list whose first item has another field.
func withUnknownField(answer []byte) []byte {
	var list runtime.Unknown
	if err := list.Unmarshal(answer[4:]); err != nil {
		panic(err)
	}
	var raw []byte
	changed := false
	for rest := list.Raw; len(rest) > 0; {
		number, _, n := protowire.ConsumeTag(rest)
		content, size := protowire.ConsumeBytes(rest[n:])
		rest = rest[n+size:]
		if number == 2 && !changed {
			content = protowire.AppendVarint(protowire.AppendTag(bytes.Clone(content), 200, protowire.VarintType), 1)
			changed = true
		}
		raw = protowire.AppendBytes(protowire.AppendTag(raw, number, protowire.BytesType), content)
	}
	list.Raw = raw
	encoded, err := list.Marshal()
	if err != nil {
		panic(err)
	}
	return append(bytes.Clone(answer[:4]), encoded...)
}

// behind returns the configuration of the cluster behind a transport.
func behind(wrap func(http.RoundTripper) http.RoundTripper) *rest.Config {
	config := rest.CopyConfig(cluster.Config())
	config.DisableCompression = true // newerServer does not decompress
	config.Wrap(wrap)
	return config
}

// servers returns three API servers: the real one, a server that knows JSON alone, and a newer server.
func servers() map[string]*rest.Config {
	return map[string]*rest.Config{
		"Protobuf":   cluster.Config(),
		"JSON alone": behind(func(next http.RoundTripper) http.RoundTripper { return jsonServer{next} }),
		"newer":      behind(func(next http.RoundTripper) http.RoundTripper { return newerServer{next} }),
	}
}

// unusual creates objects whose encodings differ in more than names.
func unusual(t *testing.T, c client.Client, namespace string) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "unusual", Annotations: map[string]string{"text": "<a href=\"x\">\u2028\n"}}
	pod := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "unusual"}}, Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyAlways,
		Containers: []corev1.Container{{
			Name: "c", Image: "nowhere", LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("http")}}},
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("0.25"), "memory": resource.MustParse("64Mi")}},
			EnvFrom:   []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "unusual"}}}},
		}},
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
	}}
	once := *pod.DeepCopy()
	once.Spec.RestartPolicy = corev1.RestartPolicyNever
	labels := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "unusual"}}
	percent := intstr.FromString("50%")
	for _, o := range []client.Object{
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"empty": "", "script": "if a < b && c\t> d\r\n"}, BinaryData: map[string][]byte{"b": {0, 255}}},
		&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
			Selector: labels, Template: pod, ServiceName: "unusual", Replicas: new(int32(1)), VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
				},
			}},
		}},
		&appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: labels, Template: pod}},
		&batchv1.CronJob{ObjectMeta: meta, Spec: batchv1.CronJobSpec{Schedule: "0 0 1 1 *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: once}}}},
		&policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}, MaxUnavailable: &percent}},
		&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "unusual"}, MaxReplicas: 3,
		}},
		&rbacv1.Role{ObjectMeta: meta}, // its rules are null
		&corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"k": []byte("v")}},
	} {
		create(t, c, o)
	}
}

var unsetTime = regexp.MustCompile(`,"creationTimestamp":null|"creationTimestamp":null,?`)

// TestEncodings watches all resources of the API server in both encodings, and from a newer server, and compares the
// bytes.
func TestEncodings(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	unusual(t, c, namespace)
	w := workload.Workload{Client: c, Random: rand.New(rand.NewPCG(seed.Of(t), 2)), Namespaces: []string{namespace}}
	for range 30 {
		if err := w.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	resources := discovered(t)
	handlers, managers := map[string]map[schema.GroupVersionResource]*texts{}, map[string]*watch.Manager{}
	for name, config := range servers() {
		manager, err := watch.NewManager(watch.Options{Config: config})
		if err != nil {
			t.Fatal(err)
		}
		fixture.Start(t, manager.Run)
		managers[name], handlers[name] = manager, map[schema.GroupVersionResource]*texts{}
		for _, key := range resources {
			h := &texts{texts: map[string]string{}}
			handlers[name][key.Resource] = h
			leaseOf(t, &watches{manager, h}, key)
		}
	}
	same := func() string {
		for _, key := range resources {
			all := map[string]map[string]string{}
			for name := range handlers {
				h := handlers[name][key.Resource]
				h.mu.Lock()
				all[name] = make(map[string]string, len(h.texts))
				for object, text := range h.texts { // Kubernetes 1.33 writes times that are not set as null, in JSON alone
					all[name][object] = unsetTime.ReplaceAllString(text, "")
				}
				synced := h.synced
				h.mu.Unlock()
				if !synced {
					return fmt.Sprintf("%s, %s: not synced", key.Resource, name)
				}
			}
			for _, name := range []string{"Protobuf", "newer"} {
				if diff := cmp.Diff(all["JSON alone"], all[name]); diff != "" {
					return fmt.Sprintf("%s (-JSON +%s):\n%s", key.Resource, name, diff)
				}
			}
		}
		return ""
	}
	eventually(t, 60*time.Second, same)
	for range 30 {
		if err := w.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, 60*time.Second, same)
	if n := managers["Protobuf"].ProtobufFallbacks(); n > 0 {
		t.Errorf("%d watches of %d fell back to JSON", n, len(resources))
	}
	if n := managers["newer"].ProtobufFallbacks(); n < 20 {
		t.Errorf("%d watches of %d fell back to JSON from a newer server", n, len(resources))
	}
	t.Logf("%d resources", len(resources))
}

// discovered returns a key for each resource that can be watched, in its preferred version.
func discovered(t *testing.T) (keys []watch.Key) {
	t.Helper()
	c, err := discovery.NewDiscoveryClientForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	lists, err := c.ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		for _, r := range list.APIResources {
			if slices.Contains(r.Verbs, "watch") && r.Name != "events" && r.Name != "leases" { // which never rest
				keys = append(keys, watch.Key{
					Resource: schema.FromAPIVersionAndKind(list.GroupVersion, r.Kind).GroupVersion().WithResource(r.Name), Kind: r.Kind, Namespaced: r.Namespaced,
				})
			}
		}
	}
	return keys
}

// TestGraphOfEncodings wants the oracle's graph from each of the servers.
func TestGraphOfEncodings(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	w := workload.Workload{Client: c, Random: rand.New(rand.NewPCG(seed.Of(t), 3)), Namespaces: []string{red, blue}}
	followers := map[string]map[string]*graphFollower{}
	views := workload.Views(red, blue)
	for server, config := range servers() {
		engine := runEngineAs(t, graphview.Options{}, config)
		followers[server] = map[string]*graphFollower{}
		for name, v := range views {
			id := graphview.Name{Namespace: red, Name: name}
			if err := engine.Apply(t.Context(), id, "uid-"+name, specOf(t, v)); err != nil {
				t.Fatal(err)
			}
			view, _ := engine.View(id)
			followers[server][name] = follow(t.Context(), view)
		}
	}
	for range 60 {
		if err := w.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	agree(t, views, func(name string, want oracle.Graph) string {
		for server := range followers {
			if d := followers[server][name].Differs(want); d != "" {
				return server + ": " + d
			}
		}
		return ""
	})
}
