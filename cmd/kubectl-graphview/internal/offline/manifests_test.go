package offline

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestCreated: objects that controllers create are not missing.
func TestCreated(t *testing.T) {
	tests := map[string]struct{ creator, want string }{
		"ExternalSecret":       {"{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: x}, spec: {target: {name: made}}}", "Secret/shop/made"},
		"ExternalSecret, name": {"{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: made}}", "Secret/shop/made"},
		"SealedSecret":         {"{apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {name: made}}", "Secret/shop/made"},
		"Certificate":          {"{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: x}, spec: {secretName: made}}", "Secret/shop/made"},
		"SecretProviderClass":  {"{apiVersion: secrets-store.csi.x-k8s.io/v1, kind: SecretProviderClass, metadata: {name: x}, spec: {secretObjects: [{secretName: other}, {secretName: made}]}}", "Secret/shop/made"},
		"VaultStaticSecret":    {"{apiVersion: secrets.hashicorp.com/v1beta1, kind: VaultStaticSecret, metadata: {name: x}, spec: {destination: {name: made, create: true}}}", "Secret/shop/made"},
		"Ingress":              {"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: x, annotations: {cert-manager.io/cluster-issuer: a}}, spec: {tls: [{secretName: made}]}}", "Secret/shop/made"},
		"connection Secret":    {"{apiVersion: rds.aws.upbound.io/v1, kind: Instance, metadata: {name: x}, spec: {writeConnectionSecretToRef: {name: made, namespace: shop}}}", "Secret/shop/made"},
		"database":             {"{apiVersion: postgresql.cnpg.io/v1, kind: Cluster, metadata: {name: db}}", "Secret/shop/db-app"},
		"Kafka":                {"{apiVersion: kafka.strimzi.io/v1, kind: KafkaUser, metadata: {name: made}}", "Secret/shop/made"},
		"release":              {"{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: made}}", "Secret/shop/made-auth"},
		"copied":               {"{apiVersion: v1, kind: Secret, metadata: {name: made, namespace: infra, annotations: {reflector.v1.k8s.emberstack.com/reflection-auto-enabled: 'true'}}}", "Secret/shop/made"},
		"scaled object":        {"{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: x}}", "HorizontalPodAutoscaler/shop/keda-hpa-x"},
		"StatefulSet":          {"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x}, spec: {replicas: 2, template: {spec: {containers: [{name: a}]}}, volumeClaimTemplates: [{metadata: {name: data}}]}}", "PersistentVolumeClaim/shop/data-x-1"},
		"other names":          {"{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: x}}", "Secret/shop/made"},
		"other namespace":      {"{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: made}, spec: {targetNamespace: b}}", ""},
		"own values":           {"{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: x}, spec: {targetNamespace: b, valuesFrom: [{kind: ConfigMap, name: made}]}}", ""},
		"chart of Argo CD":     {"{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: x}, spec: {destination: {namespace: shop}, sources: [{chart: a}]}}", "Secret/shop/made"},
		"folder of Argo CD":    {"{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: x}, spec: {destination: {namespace: shop}, source: {path: a}}}", ""},
		"ApplicationSet":       {"{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, metadata: {name: x}, spec: {template: {spec: {destination: {namespace: shop}, source: {chart: a}}}}}", "Secret/shop/made"},
		"variable":             {"{apiVersion: v1, kind: Secret, metadata: {name: '${APP}-auth'}}", "Secret/shop/made-auth"},
		"another variable":     {"{apiVersion: v1, kind: Secret, metadata: {name: '${APP}-other'}}", ""},
		"custom resource":      {"{apiVersion: example.com/v1, kind: Thing, metadata: {name: auth}}", "Secret/shop/made-auth"},
		"passive resource":     {"{apiVersion: kyverno.io/v1, kind: Policy, metadata: {name: auth}}", ""},
		"serving certificate":  {"{apiVersion: v1, kind: Service, metadata: {name: x, annotations: {service.beta.openshift.io/serving-cert-secret-name: made}}}", "Secret/shop/made"},
		"nothing":              {"{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			user := "{apiVersion: v1, kind: Pod, metadata: {name: user}, spec: {containers: [{name: a, envFrom: [{secretRef: {name: made}}, {secretRef: {name: made-auth}}, {secretRef: {name: db-app}}]}]}}"
			m := NewLoader(Options{Paths: []string{Stdin}, Namespace: "shop", Stdin: strings.NewReader(user + "\n---\n" + tt.creator)}).Load()
			made := ""
			for _, o := range m.sorted() {
				if o.Made() && o.Key.Kind != "Namespace" && o.Key.Kind != "Pod" {
					made += " " + o.Key.String()
				}
			}
			if !strings.Contains(made, tt.want) || tt.want == "" && made != "" {
				t.Errorf("made:%s, want %s", made, tt.want)
			}
		})
	}
}

// TestUncertain: where a deployer decides the namespace of an object, or a kustomization is left out, an object of that
// name in another namespace counts.
func TestUncertain(t *testing.T) {
	const user = "apiVersion: v1\nkind: Pod\nmetadata: {name: user, namespace: shop}\nspec: {containers: [{name: a, envFrom: [{secretRef: {name: a}}]}]}\n"
	secret := func(place string) string {
		return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: a" + place + "}\n"
	}
	wanted := Key{secretKind, "shop", "a"}
	for name, tt := range map[string]struct {
		files map[string]string
		o     Options
		want  bool
	}{
		"another namespace":             {map[string]string{"a.yaml": user + secret(", namespace: b")}, Options{}, false},
		"no namespace":                  {map[string]string{"a.yaml": user + secret("")}, Options{}, true},
		"no namespace, -n":              {map[string]string{"a.yaml": user + secret("")}, Options{Namespace: "b"}, false},
		"user without namespace":        {map[string]string{"a.yaml": strings.Replace(user, ", namespace: shop", "", 1) + secret(", namespace: b")}, Options{}, true},
		"kustomization that is fetched": {map[string]string{"a.yaml": user, "k/kustomization.yaml": "resources: [b.yaml]\npatches: [{path: c.yaml}]\n", "k/b.yaml": secret(", namespace: b"), "k/c.yaml": "a: ["}, Options{}, true},
	} {
		tt.o.Paths = []string{write(t, tt.files)}
		m := NewLoader(tt.o).Load()
		key := wanted
		if name == "user without namespace" {
			key.Namespace = "default"
		}
		if o := m.Objects[key]; (o != nil) != tt.want {
			t.Errorf("%s: %v is there: %t; %v", name, key, o != nil, m.Warnings)
		}
	}
}

// TestElsewhere: an object is made where something that the manifests do not have may make it, and nowhere else.
func TestElsewhere(t *testing.T) {
	const user = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: user, namespace: shop}\nspec: {template: {spec: {serviceAccountName: maker, containers: [{name: a, envFrom: [{secretRef: {name: redis-auth}}]}]}}}\n"
	const route = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a, namespace: shop}\nspec: {defaultBackend: {service: {name: redis-auth, port: {number: 80}}}}\n"
	role := func(verb, namespace string) string {
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: makes}\nrules: [{apiGroups: [''], resources: [secrets], verbs: [" + verb + "]}]\n---\n" +
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: makes, namespace: " + namespace + "}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: makes}\n" +
			"subjects: [{kind: ServiceAccount, name: maker, namespace: shop}]\n"
	}
	const kustomization = "namespace: shop\nresources: [user.yaml]\n"
	secret, service := Key{secretKind, "shop", "redis-auth"}, Key{serviceKind, "shop", "redis-auth"}
	for name, tt := range map[string]struct {
		files map[string]string
		key   Key
		want  bool
	}{
		"nothing":                        {map[string]string{"a.yaml": user}, secret, false},
		"kustomization":                  {map[string]string{"k/user.yaml": user, "k/kustomization.yaml": kustomization}, secret, false},
		"address left out":               {map[string]string{"k/user.yaml": user, "k/kustomization.yaml": kustomization + "components: ['https://example.com/a']\n"}, secret, true},
		"chart left out":                 {map[string]string{"k/user.yaml": user, "k/kustomization.yaml": kustomization + "helmCharts: [{name: a}]\n"}, secret, true},
		"chart of another namespace":     {map[string]string{"a.yaml": user, "k/kustomization.yaml": "helmCharts: [{name: a, namespace: infra}]\n"}, secret, false},
		"chart alone":                    {map[string]string{"a.yaml": user, "k/kustomization.yaml": "helmCharts: [{name: a, namespace: shop}]\n"}, secret, true},
		"patch left out":                 {map[string]string{"k/user.yaml": user, "k/kustomization.yaml": kustomization + "patches: [{path: a.yaml}]\n"}, secret, false},
		"content of a generator":         {map[string]string{"k/user.yaml": user, "k/kustomization.yaml": kustomization + "configMapGenerator: [{name: a, envs: [a.env]}]\n"}, secret, false},
		"role":                           {map[string]string{"a.yaml": user, "b.yaml": role("create", "shop")}, secret, true},
		"role of all verbs":              {map[string]string{"a.yaml": user, "b.yaml": role("'*'", "shop")}, secret, true},
		"role that reads":                {map[string]string{"a.yaml": user, "b.yaml": role("get", "shop")}, secret, false},
		"role in another namespace":      {map[string]string{"a.yaml": user, "b.yaml": role("create", "infra")}, secret, false},
		"role without a workload":        {map[string]string{"a.yaml": strings.Replace(user, "maker", "other", 1), "b.yaml": role("create", "shop")}, secret, false},
		"script":                         {map[string]string{"a.yaml": user, "make.sh": "kubectl create secret generic redis-auth --from-literal=a=b"}, secret, true},
		"description":                    {map[string]string{"a.yaml": user, "README.md": "Make the Secret `redis-auth`."}, secret, true},
		"playbook":                       {map[string]string{"a.yaml": user, "tasks.yml": "- name: a\n  vars: {secret: redis-auth}\n"}, secret, true},
		"values":                         {map[string]string{"a.yaml": user, "values.yaml": "existingSecret: redis-auth\n"}, secret, false},
		"another name in a script":       {map[string]string{"a.yaml": user, "make.sh": "kubectl create secret generic redis-auth-2"}, secret, false},
		"chart of that name":             {map[string]string{"a.yaml": user, "redis/values.yaml": "a: b\n"}, secret, true},
		"chart of another name":          {map[string]string{"a.yaml": user, "redi/values.yaml": "a: b\n"}, secret, false},
		"Service of a namespace in use":  {map[string]string{"a.yaml": user, "b.yaml": route}, service, false},
		"Service of an idle namespace":   {map[string]string{"b.yaml": route}, service, true},
		"generated namespace of a chart": {map[string]string{"a.yaml": user, "b.yaml": "{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, metadata: {name: x}, spec: {template: {spec: {destination: {namespace: '{{ .path }}'}, source: {chart: a}}}}}"}, secret, true},
	} {
		m := NewLoader(Options{Paths: []string{write(t, tt.files)}}).Load()
		if o := m.Objects[tt.key]; (o != nil) != tt.want {
			t.Errorf("%s: %v is there: %t; %v %v", name, tt.key, o != nil, m.Warnings, m.Faults)
		}
	}
}

// TestPartial: keys are not judged of a ConfigMap whose content is left out, and selectors not in a namespace of
// other applications.
func TestPartial(t *testing.T) {
	const user = "apiVersion: v1\nkind: Pod\nmetadata: {name: user, namespace: shop}\nspec: {containers: [{name: a, env: [{name: A, valueFrom: {configMapKeyRef: {name: a, key: b}}}]}]}\n"
	const policy = "---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: a, namespace: infra}\nspec: {podSelector: {matchLabels: {app: a}}}\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  int
	}{
		"whole":        {map[string]string{"k/user.yaml": user, "k/kustomization.yaml": "namespace: shop\nresources: [user.yaml]\nconfigMapGenerator: [{name: a, literals: [c=d]}]\n"}, 1},
		"left out":     {map[string]string{"k/user.yaml": user, "k/kustomization.yaml": "namespace: shop\nresources: [user.yaml]\nconfigMapGenerator: [{name: a, literals: [c=d], envs: [a.env]}]\n"}, 0},
		"other policy": {map[string]string{"a.yaml": policy}, 0},
		"own policy":   {map[string]string{"a.yaml": policy + strings.ReplaceAll("---\n"+configMap, "{name: NAME}", "{name: a, namespace: infra}")}, 1},
	} {
		m := NewLoader(Options{Paths: []string{write(t, tt.files)}}).Load()
		if got := m.Findings(); len(got) != tt.want {
			t.Errorf("%s: %d findings, want %d: %v", name, len(got), tt.want, got)
		}
	}
}

// TestPlaceholders: names that are replaced before they are applied are told from names.
func TestPlaceholders(t *testing.T) {
	for name, want := range map[string]bool{"${APP}-auth": true, "<CLUSTER>": true, "REPLACE_ME": true, "SECRET": true, "change-me": true, "ingress_secret": true, "web-2": false, "a.b": false, "resume": false} {
		if IsPlaceholder(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}

// TestEveryCluster: objects of every cluster are there if they are referred to.
func TestEveryCluster(t *testing.T) {
	m := load(t, `apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop}
spec:
  serviceAccountName: default
  priorityClassName: system-node-critical
  volumes: [{name: a, projected: {sources: [{configMap: {name: kube-root-ca.crt}}]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: default, namespace: other}]
`)
	for _, want := range []Key{
		{schema.GroupKind{Kind: "ServiceAccount"}, "shop", "default"}, {configMapKind, "shop", "kube-root-ca.crt"},
		{schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, "", "system-node-critical"},
		{schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}, "", "view"}, {namespaceKind, "", "shop"},
	} {
		if o := m.Objects[want]; o == nil || !o.Made() {
			t.Errorf("%s is not made", want)
		}
	}
	if got := m.Namespaces(); len(got) != 1 || got[0] != "shop" {
		t.Errorf("described namespaces = %v", got)
	}
}

// TestKinds: the scope of a kind comes from the table, from definitions and from the catalogue of projects.
func TestKinds(t *testing.T) {
	m := load(t, `{apiVersion: v1, kind: Node, metadata: {name: a, namespace: x}}
---
{apiVersion: cert-manager.io/v1, kind: ClusterIssuer, metadata: {name: a, namespace: wrong}}
---
{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a}}
---
{apiVersion: cluster.x-k8s.io/v1beta2, kind: ClusterClass, metadata: {name: a, namespace: x}}
---
{apiVersion: example.com/v1, kind: Fish, metadata: {name: a}}
---
{apiVersion: example.com/v1, kind: Sea, metadata: {name: a}}
---
{apiVersion: extensions/v1beta1, kind: Ingress, metadata: {name: a}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: seen.example.com}
spec: {group: example.com, scope: Cluster, names: {kind: Sea, plural: seen}, versions: [{name: v1, served: true}]}
`)
	for _, want := range []Key{
		{schema.GroupKind{Kind: "Node"}, "", "a"}, {schema.GroupKind{Group: "cert-manager.io", Kind: "ClusterIssuer"}, "", "a"},
		{schema.GroupKind{Group: "cert-manager.io", Kind: "Certificate"}, "default", "a"}, {schema.GroupKind{Group: "cluster.x-k8s.io", Kind: "ClusterClass"}, "x", "a"},
		{schema.GroupKind{Group: "example.com", Kind: "Fish"}, "default", "a"}, {schema.GroupKind{Group: "example.com", Kind: "Sea"}, "", "a"},
		{schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}, "default", "a"},
	} {
		if m.Objects[want] == nil {
			t.Errorf("%s is not there", want)
		}
	}
	if m.Find("example.com", "seen", "", "a") == nil || len(builtinKinds()) < 60 {
		t.Errorf("no object of seen.example.com, or %d kinds of Kubernetes", len(builtinKinds()))
	}
	if len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], "nothing describes Fish of example.com/v1, so it counts as namespaced") {
		t.Errorf("warnings = %q", m.Warnings)
	}
}

// TestAllows: patterns allow objects for all files, comments for their own.
func TestAllows(t *testing.T) {
	m := load(t, "# graphview: allow Secret/db-*\n"+configMap)
	m.Allow([]string{"configmap/other/*"})
	secret := Key{secretKind, "shop", "db-auth"}
	for name, tt := range map[string]struct {
		file string
		key  Key
		want bool
	}{
		"comment":         {"<stdin>", secret, true},
		"other file":      {"f.yaml", secret, false},
		"other kind":      {"<stdin>", Key{configMapKind, "shop", "db-auth"}, false},
		"flag":            {"f.yaml", Key{configMapKind, "other", "a"}, true},
		"other namespace": {"f.yaml", Key{configMapKind, "shop", "a"}, false},
	} {
		if got := m.Allows(tt.file, tt.key); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestTargets: Flux puts the objects of a folder into the namespace of its Kustomization.
func TestTargets(t *testing.T) {
	folder := write(t, map[string]string{
		"apps/web/ks.yaml":      "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: web, namespace: flux-system}, spec: {path: ./apps/web/app, targetNamespace: shop}}",
		"apps/web/app/web.yaml": strings.ReplaceAll(configMap, "NAME", "web"),
		"apps/api/api.yaml":     strings.ReplaceAll(configMap, "NAME", "api"),
	})
	m := NewLoader(Options{Paths: []string{folder}}).Load()
	for _, want := range []Key{{configMapKind, "shop", "web"}, {configMapKind, "default", "api"}, {schema.GroupKind{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"}, "flux-system", "web"}} {
		if m.Objects[want] == nil {
			t.Errorf("%s is not there", want)
		}
	}
}
