package refs

import (
	"reflect"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"graphview.dev/graphview/graph"
)

// kubernetes are the Go types of Kubernetes' kinds in table/kubernetes.refs.
var kubernetes = map[graph.Kind]any{
	{Group: "", Kind: "Endpoints"}:                                                  corev1.Endpoints{}, //nolint:staticcheck // still served
	{Group: "", Kind: "PersistentVolume"}:                                           corev1.PersistentVolume{},
	{Group: "", Kind: "PersistentVolumeClaim"}:                                      corev1.PersistentVolumeClaim{},
	{Group: "", Kind: "Pod"}:                                                        corev1.Pod{},
	{Group: "", Kind: "PodTemplate"}:                                                corev1.PodTemplate{},
	{Group: "", Kind: "ReplicationController"}:                                      corev1.ReplicationController{},
	{Group: "", Kind: "Service"}:                                                    corev1.Service{},
	{Group: "", Kind: "ServiceAccount"}:                                             corev1.ServiceAccount{},
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:   admissionv1.MutatingWebhookConfiguration{},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: admissionv1.ValidatingWebhookConfiguration{},
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:                           apiregistrationv1.APIService{},
	{Group: "apps", Kind: "DaemonSet"}:                                              appsv1.DaemonSet{},
	{Group: "apps", Kind: "Deployment"}:                                             appsv1.Deployment{},
	{Group: "apps", Kind: "ReplicaSet"}:                                             appsv1.ReplicaSet{},
	{Group: "apps", Kind: "StatefulSet"}:                                            appsv1.StatefulSet{},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:                         autoscalingv2.HorizontalPodAutoscaler{},
	{Group: "batch", Kind: "CronJob"}:                                               batchv1.CronJob{},
	{Group: "batch", Kind: "Job"}:                                                   batchv1.Job{},
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:                              discoveryv1.EndpointSlice{},
	{Group: "networking.k8s.io", Kind: "IPAddress"}:                                 networkingv1.IPAddress{},
	{Group: "networking.k8s.io", Kind: "Ingress"}:                                   networkingv1.Ingress{},
	{Group: "networking.k8s.io", Kind: "IngressClass"}:                              networkingv1.IngressClass{},
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:                             networkingv1.NetworkPolicy{},
	{Group: "policy", Kind: "PodDisruptionBudget"}:                                  policyv1.PodDisruptionBudget{},
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}:                rbacv1.ClusterRoleBinding{},
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:                       rbacv1.RoleBinding{},
	{Group: "storage.k8s.io", Kind: "VolumeAttachment"}:                             storagev1.VolumeAttachment{},
}

// clusterScoped are the targets of the table that have no namespace.
var clusterScoped = map[string]bool{
	"certificates.k8s.io/ClusterTrustBundle": true,
	"core/Node":                              true,
	"core/PersistentVolume":                  true,
	"networking.k8s.io/IngressClass":         true,
	"node.k8s.io/RuntimeClass":               true,
	"scheduling.k8s.io/PriorityClass":        true,
	"storage.k8s.io/CSIDriver":               true,
	"storage.k8s.io/StorageClass":            true,
	"storage.k8s.io/VolumeAttributesClass":   true,
}

// TestBuiltinPaths finds the paths of Kubernetes' own kinds, and the fields
// beside them, in the Go types of the API.
func TestBuiltinPaths(t *testing.T) {
	for _, rule := range BuiltinRules() {
		typed, ok := kubernetes[rule.From]
		if !ok {
			t.Errorf("%s: no Go type to check its rows with", kindString(rule.From))
			continue
		}
		root := reflect.TypeOf(typed)
		path, err := parsePath(rule.Path)
		if err != nil {
			t.Fatal(err)
		}
		name := kindString(rule.From) + " " + rule.Path
		value := descend(root, path)
		if value == nil {
			t.Errorf("%s: no such field", name)
			continue
		}
		base := path[:holder(path)]
		want := reflect.String
		switch rule.Method {
		case Object:
			base = path
			want = reflect.Struct
		case Selector:
			want = reflect.Struct
		case Labels:
			want = reflect.Map
		}
		if value.Kind() != want {
			t.Errorf("%s: is a %v, not a %v", name, value.Kind(), want)
		}
		fields := append([]string{rule.Unless, rule.To.Group.Field, rule.To.Kind.Field}, rule.Namespace...)
		if rule.Method == Object {
			fields = append(fields, "name")
		}
		for _, field := range fields {
			if field == "" {
				continue
			}
			below := base
			relative, fromRoot := strings.CutPrefix(field, ".")
			if fromRoot {
				below = nil
			}
			steps, err := parsePath(relative)
			if err != nil {
				t.Fatal(err)
			}
			if descend(descend(root, below), steps) == nil {
				t.Errorf("%s: no field %s", name, field)
			}
		}
	}
}

func TestBuiltinScopes(t *testing.T) {
	for _, rule := range BuiltinRules() {
		if !rule.To.fixed() {
			continue
		}
		target := kindString(graph.Kind{Group: rule.To.Group.Value, Kind: rule.To.Kind.Value})
		if got := rule.Scope == graph.ScopeCluster; got != clusterScoped[target] {
			t.Errorf("%s %s: scope of %s is %d", kindString(rule.From), rule.Path, target, rule.Scope)
		}
	}
}

// descend follows steps by the JSON names of a type; nil if it cannot.
func descend(at reflect.Type, steps []step) reflect.Type {
	at = deref(at)
	for _, s := range steps {
		switch {
		case s.kind == elements && at.Kind() == reflect.Slice, at.Kind() == reflect.Map && s.kind != elements:
			at = deref(at.Elem())
		case s.kind == field && at.Kind() == reflect.Struct:
			next, ok := jsonField(at, s.key)
			if !ok {
				return nil
			}
			at = deref(next)
		default:
			return nil
		}
	}
	return at
}

func jsonField(of reflect.Type, name string) (reflect.Type, bool) {
	for f := range of.Fields() {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name {
			return f.Type, true
		}
		if tag == "" && f.Anonymous {
			if found, ok := jsonField(deref(f.Type), name); ok {
				return found, true
			}
		}
	}
	return nil, false
}

func deref(t reflect.Type) reflect.Type {
	if t != nil && t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
