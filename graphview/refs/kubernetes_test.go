package refs

import (
	"reflect"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"graphview.dev/graphview/graph"
)

// kubernetes are the Go types of the table's kinds in Kubernetes' own groups.
var kubernetes = map[graph.Kind]any{
	{Group: "", Kind: "Endpoints"}:                                                    corev1.Endpoints{}, //nolint:staticcheck // still served
	{Group: "", Kind: "Event"}:                                                        corev1.Event{},
	{Group: "", Kind: "PersistentVolume"}:                                             corev1.PersistentVolume{},
	{Group: "", Kind: "PersistentVolumeClaim"}:                                        corev1.PersistentVolumeClaim{},
	{Group: "", Kind: "Pod"}:                                                          corev1.Pod{},
	{Group: "", Kind: "PodTemplate"}:                                                  corev1.PodTemplate{},
	{Group: "", Kind: "ReplicationController"}:                                        corev1.ReplicationController{},
	{Group: "", Kind: "ResourceQuota"}:                                                corev1.ResourceQuota{},
	{Group: "", Kind: "Secret"}:                                                       corev1.Secret{},
	{Group: "", Kind: "Service"}:                                                      corev1.Service{},
	{Group: "", Kind: "ServiceAccount"}:                                               corev1.ServiceAccount{},
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   admissionv1.MutatingAdmissionPolicyBinding{},
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:     admissionv1.MutatingWebhookConfiguration{},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: admissionv1.ValidatingAdmissionPolicyBinding{},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}:   admissionv1.ValidatingWebhookConfiguration{},
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:                             apiregistrationv1.APIService{},
	{Group: "apps", Kind: "DaemonSet"}:                                                appsv1.DaemonSet{},
	{Group: "apps", Kind: "Deployment"}:                                               appsv1.Deployment{},
	{Group: "apps", Kind: "ReplicaSet"}:                                               appsv1.ReplicaSet{},
	{Group: "apps", Kind: "StatefulSet"}:                                              appsv1.StatefulSet{},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:                           autoscalingv2.HorizontalPodAutoscaler{},
	{Group: "batch", Kind: "CronJob"}:                                                 batchv1.CronJob{},
	{Group: "batch", Kind: "Job"}:                                                     batchv1.Job{},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}:                 certificatesv1.CertificateSigningRequest{},
	{Group: "certificates.k8s.io", Kind: "PodCertificateRequest"}:                     certificatesv1beta1.PodCertificateRequest{},
	{Group: "coordination.k8s.io", Kind: "Lease"}:                                     coordinationv1.Lease{},
	{Group: "coordination.k8s.io", Kind: "LeaseCandidate"}:                            coordinationv1beta1.LeaseCandidate{},
	{Kind: "ConfigMap"}:                                                               corev1.ConfigMap{},
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:                                discoveryv1.EndpointSlice{},
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}:                       flowcontrolv1.FlowSchema{},
	{Group: "networking.k8s.io", Kind: "IPAddress"}:                                   networkingv1.IPAddress{},
	{Group: "networking.k8s.io", Kind: "Ingress"}:                                     networkingv1.Ingress{},
	{Group: "networking.k8s.io", Kind: "IngressClass"}:                                networkingv1.IngressClass{},
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:                               networkingv1.NetworkPolicy{},
	{Group: "policy", Kind: "PodDisruptionBudget"}:                                    policyv1.PodDisruptionBudget{},
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:                         rbacv1.ClusterRole{},
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}:                  rbacv1.ClusterRoleBinding{},
	{Group: "rbac.authorization.k8s.io", Kind: "Role"}:                                rbacv1.Role{},
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:                         rbacv1.RoleBinding{},
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:                                 resourcev1.ResourceClaim{},
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}:                         resourcev1.ResourceClaimTemplate{},
	{Group: "resource.k8s.io", Kind: "ResourcePoolStatusRequest"}:                     resourcev1alpha3.ResourcePoolStatusRequest{},
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}:                                 resourcev1.ResourceSlice{},
	{Group: "storage.k8s.io", Kind: "CSINode"}:                                        storagev1.CSINode{},
	{Group: "storage.k8s.io", Kind: "CSIStorageCapacity"}:                             storagev1.CSIStorageCapacity{},
	{Group: "storage.k8s.io", Kind: "StorageClass"}:                                   storagev1.StorageClass{},
	{Group: "storage.k8s.io", Kind: "VolumeAttachment"}:                               storagev1.VolumeAttachment{},
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}:                          storagev1.VolumeAttributesClass{},
}

// older are the types of versions that have fields which the newest has not.
var older = map[graph.Kind]any{
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:         resourcev1beta1.ResourceClaim{},
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}: resourcev1beta1.ResourceClaimTemplate{},
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}:         resourcev1beta1.ResourceSlice{},
}

// untyped are kinds whose Go types this module does not depend on.
var untyped = map[graph.Kind]bool{
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: true,
	// Alpha, and called otherwise in the version that the module depends on.
	{Group: "scheduling.k8s.io", Kind: "PodGroup"}: true,
	{Group: "scheduling.k8s.io", Kind: "Workload"}: true,
}

// clusterScoped are the targets of the table that have no namespace.
var clusterScoped = map[string]bool{
	"admissionregistration.k8s.io/MutatingAdmissionPolicy":        true,
	"admissionregistration.k8s.io/MutatingWebhookConfiguration":   true,
	"admissionregistration.k8s.io/ValidatingAdmissionPolicy":      true,
	"admissionregistration.k8s.io/ValidatingWebhookConfiguration": true,
	"apiextensions.crossplane.io/Composition":                     true,
	"apiextensions.crossplane.io/CompositionRevision":             true,
	"apiextensions.k8s.io/CustomResourceDefinition":               true,
	"cert-manager.io/ClusterIssuer":                               true,
	"certificates.k8s.io/ClusterTrustBundle":                      true,
	"configuration.konghq.com/KongClusterPlugin":                  true,
	"core/Namespace":                         true,
	"core/Node":                              true,
	"core/PersistentVolume":                  true,
	"external-secrets.io/ClusterSecretStore": true,
	"flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": true,
	"gateway.networking.k8s.io/GatewayClass":                  true,
	"groupsnapshot.storage.k8s.io/VolumeGroupSnapshotClass":   true,
	"groupsnapshot.storage.k8s.io/VolumeGroupSnapshotContent": true,
	"kro.run/ResourceGraphDefinition":                         true,
	"kueue.x-k8s.io/AdmissionCheck":                           true,
	"kueue.x-k8s.io/ClusterQueue":                             true,
	"kueue.x-k8s.io/Cohort":                                   true,
	"kueue.x-k8s.io/MultiKueueCluster":                        true,
	"kueue.x-k8s.io/ResourceFlavor":                           true,
	"kueue.x-k8s.io/WorkloadPriorityClass":                    true,
	"kubeovn.io/Subnet":                                       true,
	"crd.projectcalico.org/IPPool":                            true,
	"scheduling.volcano.sh/Queue":                             true,
	"kyverno.io/ClusterPolicy":                                true,
	"kyverno.io/GlobalContextEntry":                           true,
	"networking.k8s.io/IngressClass":                          true,
	"node.k8s.io/RuntimeClass":                                true,
	"ops.crossplane.io/Operation":                             true,
	"pkg.crossplane.io/ConfigurationRevision":                 true,
	"pkg.crossplane.io/DeploymentRuntimeConfig":               true,
	"pkg.crossplane.io/Function":                              true,
	"pkg.crossplane.io/FunctionRevision":                      true,
	"pkg.crossplane.io/ProviderRevision":                      true,
	"rbac.authorization.k8s.io/ClusterRole":                   true,
	"resource.k8s.io/DeviceClass":                             true,
	"scheduling.k8s.io/PriorityClass":                         true,
	"snapshot.storage.k8s.io/VolumeSnapshotClass":             true,
	"snapshot.storage.k8s.io/VolumeSnapshotContent":           true,
	"storage.k8s.io/CSIDriver":                                true,
	"storage.k8s.io/StorageClass":                             true,
	"windows.k8s.io/GMSACredentialSpec":                       true,
	"storage.k8s.io/VolumeAttributesClass":                    true,
}

// TestBuiltinPaths finds the paths of Kubernetes' own kinds, and the fields
// beside them, in the Go types of the API.
func TestBuiltinPaths(t *testing.T) {
	for _, rule := range BuiltinRules() {
		if !kubernetesGroups[rule.From.Group] || untyped[rule.From] {
			continue
		}
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
		if other, ok := older[rule.From]; value == nil && ok {
			root = reflect.TypeOf(other)
			value = descend(root, path)
		}
		if value == nil {
			t.Errorf("%s: no such field", name)
			continue
		}
		base := path[:holder(path)]
		want := reflect.String
		switch rule.Method {
		case Name, Inventory, Application:
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
		fields := companions(&rule)
		if rule.Method == Object {
			fields = append(fields, "name")
		}
		for _, field := range fields {
			if field == "" {
				continue
			}
			below := base
			field, _, _ := strings.Cut(field, ":")
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

// TestSecretsAreMetadata: nothing else of a Secret is there to be looked at.
func TestSecretsAreMetadata(t *testing.T) {
	for _, rule := range BuiltinRules() {
		if rule.From != (graph.Kind{Kind: "Secret"}) {
			continue
		}
		for _, field := range append(companions(&rule), "."+rule.Path) {
			if strings.HasPrefix(field, ".") && !strings.HasPrefix(field, ".metadata.") {
				t.Errorf("a row of Secrets looks at %s", field)
			}
		}
		if !strings.HasPrefix(rule.Path, "metadata.annotations[") && !strings.HasPrefix(rule.Path, "metadata.labels[") {
			t.Errorf("a row of Secrets looks at %s", rule.Path)
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
