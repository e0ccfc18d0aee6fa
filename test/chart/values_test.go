package chart

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"graphview.dev/test/env"
	"graphview.dev/test/installation"
)

func TestLint(t *testing.T) {
	for name, values := range variants {
		t.Run(name, func(t *testing.T) {
			args := []string{"lint", "--strict", "charts/graphview"}
			for _, value := range values {
				args = append(args, "--set-json", value)
			}
			if out, errs, code := helm(t, args...); code != 0 {
				t.Errorf("exit code %d\n%s\n%s", code, out, errs)
			}
		})
	}
}

// variants turn on what is off, and off what is on.
var variants = map[string][]string{
	"nothing said":       nil,
	"everything off":     {"apiService.enabled=false", "crds.install=false", "rbac.create=false", "serviceAccount.create=false", "podDisruptionBudget.enabled=false"},
	"everything on":      {"networkPolicy.enabled=true", "webhook.enabled=true", `webhook.certificates="self-signed"`, "metrics.authentication=true", "serviceMonitor.enabled=true", "prometheusRule.enabled=true", "operator.pprof=true", "operator.requireServiceAccount=false", "view.enabled=true", `operator.allowedOrigins=["*.example.com"]`, "replicas=2"},
	"some resources":     {`rbac.read="resources"`, `rbac.resources=[{"apiGroups":["apps"],"resources":["deployments"]}]`},
	"workloads only":     {`rbac.read="workloads"`, `rbac.resources=[{"apiGroups":["argoproj.io"],"resources":["rollouts"]}]`},
	"some namespaces":    {`rbac.read="namespaces"`, `rbac.namespaces=["shop"]`, "view.enabled=true"},
	"without Secrets":    {"rbac.secrets=false", `rbac.resources=[{"apiGroups":["example.com"],"resources":["*"]}]`},
	"on the host":        {"hostNetwork=true", `ports={"stream":30443,"webhook":30943,"metrics":30080,"health":30081}`, `extraEnv=[{"name":"HTTPS_PROXY","value":"http://proxy:3128"}]`, `extraVolumes=[{"name":"more","emptyDir":{}}]`, `extraVolumeMounts=[{"name":"more","mountPath":"/more"}]`, `commonLabels={"team":"platform"}`},
	"cert-manager":       {`certificates.source="certManager"`, "webhook.enabled=true"},
	"its own issuer":     {`certificates.source="certManager"`, `certificates.issuerRef={"name":"letsencrypt","kind":"ClusterIssuer"}`},
	"a certificate":      {`certificates.source="secret"`, "webhook.enabled=true", `certificates.caBundle="-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"`},
	"placed":             {`nodeSelector={"a":"b"}`, `tolerations=[{"operator":"Exists"}]`, `affinity={"podAntiAffinity":{}}`, `priorityClassName="high"`, `topologySpreadConstraints=[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}]`},
	"a hub":              {"fleet.hub.enabled=true", `fleet.name="acme"`, `fleet.hub.certificateSecret="hub-tls"`, `fleet.hub.service={"type":"LoadBalancer","annotations":{"a":"b"}}`, "networkPolicy.enabled=true"},
	"a member":           {`fleet.name="acme"`, `fleet.member.url="wss://hub.example.com:8444/tunnel/v1/clusters/eu-1"`, `fleet.member.caBundle="-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"`, "networkPolicy.enabled=true"},
	"OpenShift":          {`podSecurityContext={"runAsNonRoot":true}`, `global.imageRegistry="registry.example.com:5000/mirror"`, `extraObjects=[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"{{ .Release.Name }}-more"}}]`},
	"the page":           {"dashboard.enabled=true", `ingress={"enabled":true,"host":"graphs.example.com","className":"nginx","tlsSecret":"graphs-tls"}`, `httpRoute={"enabled":true,"parentRefs":[{"name":"web"}],"hostnames":["graphs.example.com"]}`, `grafanaDashboard={"enabled":true,"annotations":{"grafana_folder":"Kubernetes"}}`},
	"no history":         {"history.enabled=false"},
	"history on volumes": {"history.volume.enabled=true", `history.volume.size="2Gi"`, "history.bytes=1073741824", "replicas=3"},
	"history on a claim": {`history={"volume":{"enabled":true,"claim":"graphview-history"}}`},
	"a login":            {"dashboard.enabled=true", `certificates.source="certManager"`, `ingress={"enabled":true,"host":"graphs.example.com"}`, `login={"enabled":true,"issuerURL":"https://login.example.com","clientID":"kubernetes","extraArgs":["--allowed-group=sre"]}`, `networkPolicy={"enabled":true,"from":[{"podSelector":{}}]}`},
	"an image by digest": {`image.digest="sha256:0000000000000000000000000000000000000000000000000000000000000000"`, `imagePullSecrets=[{"name":"registry"}]`},
}

// TestSchemaRefuses: what is no value, or none that works, is refused by name
// before anything is installed.
func TestSchemaRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		set  string
		want string
	}{
		"unknown value":                {`replicaCount=2`, "replicaCount"},
		"unknown value of a section":   {`image.registry="example.com"`, "/image"},
		"misspelt flag":                {`operator.maxVertices=5`, "/operator"},
		"no replicas":                  {`replicas=0`, "/replicas"},
		"replicas in words":            {`replicas="two"`, "/replicas"},
		"a duration without unit":      {`operator.syncTimeout="30"`, "/operator/syncTimeout"},
		"a log level":                  {`operator.logLevel="chatty"`, "/operator/logLevel"},
		"a policy":                     {`webhook.failurePolicy="Maybe"`, "/webhook/failurePolicy"},
		"a memory limit":               {`resources.limits.memory="1 GB"`, "/resources/limits/memory"},
		"a digest":                     {`image.digest="abc"`, "/image/digest"},
		"an image that nobody pushed":  {`replicas=1`, "no image is published: set image.repository and image.tag"},
		"a section taken away":         {`image=null`, "image"},
		"no namespaces to read":        {`rbac.read="namespaces"`, "rbac.read namespaces needs rbac.namespaces"},
		"no resources to read":         {`rbac.read="resources"`, "rbac.read resources needs rbac.resources"},
		"a rule without groups":        {`rbac.resources=[{"resources":["pods"]}]`, "/rbac/resources/0"},
		"a Secret without authority":   {`certificates.source="secret"`, "certificates.source secret needs certificates.caBundle"},
		"something else than a flag":   {`operator.extraArgs=["serve"]`, "/operator/extraArgs/0"},
		"a webhook nobody vouches for": {`webhook.enabled=true`, "webhook.certificates self-signed"},
		"Secrets left out of a list":   {`rbac={"create":true,"read":"resources","resources":[{"apiGroups":[""],"resources":["pods"]}],"namespaces":[],"secrets":false,"aggregateToView":true}`, "rbac.secrets is for rbac.read all"},
		"a hub without a name":         {`fleet.hub.enabled=true`, "need fleet.name"},
		"a member without a name":      {`fleet.member.url="wss://hub:8444/tunnel/v1/clusters/eu"`, "need fleet.name"},
		"a hub by HTTPS":               {`fleet.member.url="https://hub:8444/tunnel/v1/clusters/eu"`, "/fleet/member/url"},
		"a certificate without a hub":  {`fleet.hub.certificateSecret="tls"`, "set fleet.hub.enabled"},
		"CAs of no hub":                {`fleet.member.caSecret="hub-ca"`, "set fleet.member.url"},
		"CAs of a hub twice":           {`fleet={"name":"acme","member":{"url":"wss://hub:8444/tunnel/v1/clusters/eu","caSecret":"hub-ca","caBundle":"-----BEGIN CERTIFICATE-----"}}`, "leave one of them out"},
		"an Ingress to no page":        {`ingress={"enabled":true,"host":"graphs.example.com"}`, "set dashboard.enabled"},
		"an Ingress without a host":    {`dashboard.enabled=true,ingress.enabled=true`, "needs ingress.host"},
		"a route without a Gateway":    {`dashboard.enabled=true,httpRoute.enabled=true`, "needs httpRoute.parentRefs"},
		"a login to no page":           {`login={"enabled":true,"issuerURL":"https://login.example.com","clientID":"kubernetes"}`, "needs a way to the page"},
		"a login of nobody":            {`dashboard.enabled=true,ingress={"enabled":true,"host":"graphs.example.com"},login.enabled=true`, "needs login.issuerURL"},
		"a login that cannot verify":   {`dashboard.enabled=true,ingress={"enabled":true,"host":"graphs.example.com"},login={"enabled":true,"issuerURL":"https://login.example.com","clientID":"kubernetes"}`, "a certificate that the proxy can verify"},
		"a claim of two replicas":      {`history={"volume":{"enabled":true,"claim":"graphview-history"}},replicas=2`, "history.volume.claim is for one replica"},
		"a volume of words":            {`history.volume.size="512 MB"`, "/history/volume/size"},
		"a privileged port":            {`ports.stream=443`, "/ports/stream"},
		"runbooks with an anchor":      {`prometheusRule.runbookURL="https://example.com/#runbooks"`, "/prometheusRule/runbookURL"},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := helm(t, "template", "graphview", "charts/graphview", "--set-json", test.set)
			if code == 0 {
				t.Fatalf("it was rendered:\n%s", out[:min(len(out), 400)])
			}
			if !strings.Contains(errs, test.want) {
				t.Errorf("the error does not name %s:\n%s", test.want, errs)
			}
		})
	}
}

// TestValues: what a value does.
func TestValues(t *testing.T) {
	container := func(t *testing.T, all []*unstructured.Unstructured, path ...string) any {
		t.Helper()
		deployment := installation.Find(all, "Deployment", "graphview-manager")
		containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
		value, _, err := unstructured.NestedFieldNoCopy(containers[0].(map[string]any), path...)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	t.Run("GOMEMLIMIT follows the memory limit", func(t *testing.T) {
		for limit, want := range map[string]string{
			"1Gi": "966367641", "512Mi": "483183820", "1.5Gi": "1449551462", "2G": "1800000000", "1073741824": "966367641", "": "",
		} {
			values := "resources: {limits: {memory: " + limit + "}}"
			if limit == "" {
				values = "resources: {limits: null}"
			}
			env, _ := container(t, objects(t, values), "env").([]any)
			got := ""
			for _, variable := range env {
				if v := variable.(map[string]any); v["name"] == "GOMEMLIMIT" {
					got, _ = v["value"].(string)
				}
			}
			if got != want {
				t.Errorf("with the limit %q: %q, want %q", limit, got, want)
			}
		}
	})
	t.Run("flags", func(t *testing.T) {
		args, _ := container(t, objects(t, `
operator: {allowedOrigins: [a.example.com, "*.example.org"], requireServiceAccount: false, maxVerticesPerView: 2000000, relationMetrics: [shop/storefront, shop/web], pprof: true, extraArgs: [--zap-encoder=console]}
webhook: {enabled: true, certificates: self-signed}
metrics: {authentication: true}`), "args").([]any)
		for _, want := range []any{
			"--allowed-origins=a.example.com,*.example.org", "--require-service-account=false", "--max-vertices-per-view=2000000", "--relation-metrics=shop/storefront,shop/web",
			"--pprof-bind-address=127.0.0.1:6060", "--zap-encoder=console", "--webhook-bind-address=:9443", "--inject-webhook-ca", "--metrics-authentication", "--leader-elect",
		} {
			if !slices.Contains(args, want) {
				t.Errorf("%s is missing in %v", want, args)
			}
		}
	})
	t.Run("another namespace", func(t *testing.T) {
		all := objects(t, "{}", "--namespace", "graphs")
		for _, object := range all {
			text, err := yaml.Marshal(object.Object)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), env.ServiceNamespace) && object.GetKind() != "CustomResourceDefinition" {
				t.Errorf("%s %s names %s", object.GetKind(), object.GetName(), env.ServiceNamespace)
			}
		}
	})
	t.Run("where the runbooks are", func(t *testing.T) {
		for values, want := range map[string]string{
			"": "", "runbookURL: https://wiki.example.com/graphs": "https://wiki.example.com/graphs#graphviewabsent", `runbookURL: ""`: "", "runbookURL: null": "",
		} {
			rule := installation.Find(objects(t, "prometheusRule:\n  enabled: true\n  "+values), "PrometheusRule", "graphview")
			groups, _, _ := unstructured.NestedSlice(rule.Object, "spec", "groups")
			first := groups[0].(map[string]any)["rules"].([]any)[0].(map[string]any)
			got, has := first["annotations"].(map[string]any)["runbook_url"]
			if first["alert"] != "GraphViewAbsent" || has != (want != "") || has && got != want {
				t.Errorf("%q: the first alert is %v, want the runbook %q", values, first, want)
			}
		}
	})
	t.Run("each alert names its runbook in the cluster", func(t *testing.T) {
		all := objects(t, "prometheusRule: {enabled: true}")
		runbooks, _, _ := unstructured.NestedStringMap(installation.Find(all, "ConfigMap", "graphview-runbooks").Object, "data")
		groups, _, _ := unstructured.NestedSlice(installation.Find(all, "PrometheusRule", "graphview").Object, "spec", "groups")
		rules := groups[0].(map[string]any)["rules"].([]any)
		for _, rule := range rules {
			alert := rule.(map[string]any)["alert"].(string)
			command := fmt.Sprintf("kubectl -n %s get configmap graphview-runbooks -o jsonpath='{.data.%s}'", env.ServiceNamespace, alert)
			if got := rule.(map[string]any)["annotations"].(map[string]any)["runbook"]; got != command || !strings.Contains(runbooks[alert], "\n1. ") {
				t.Errorf("%s: the annotation is %q, want %q; the runbook is %q", alert, got, command, runbooks[alert])
			}
		}
		if len(runbooks) != len(rules) {
			t.Errorf("%d runbooks for %d alerts", len(runbooks), len(rules))
		}
	})
	t.Run("not where the cluster keeps its own", func(t *testing.T) {
		if _, errs, code := helm(t, "template", "graphview", "charts/graphview", "--namespace", "kube-system"); code == 0 || !strings.Contains(errs, "not installed into kube-system") {
			t.Errorf("exit code %d\n%s", code, errs)
		}
	})
	t.Run("labels of everything", func(t *testing.T) {
		for _, object := range objects(t, "commonLabels: {team: platform}") {
			if object.GetLabels()["team"] != "platform" {
				t.Errorf("%s %s has no label", object.GetKind(), object.GetName())
			}
		}
	})
	t.Run("reading is narrowed", func(t *testing.T) {
		for name, values := range map[string]string{
			"resources":  `rbac: {read: resources, resources: [{apiGroups: [apps], resources: [deployments]}]}`,
			"namespaces": `rbac: {read: namespaces, namespaces: [shop]}`,
		} {
			role := installation.Find(objects(t, values), "ClusterRole", "graphview-manager")
			rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
			for _, rule := range rules {
				groups, _ := rule.(map[string]any)["apiGroups"].([]any)
				if slices.Contains(groups, any("*")) {
					t.Errorf("%s: the cluster's role still has %v", name, rule)
				}
			}
		}
	})
	t.Run("a history", func(t *testing.T) {
		for name, test := range map[string]struct {
			values, wantVolume, wantStrategy string
			wantArgs                         []string
		}{
			"in memory":             {`{}`, "", "RollingUpdate", nil},
			"off":                   {`history: {enabled: false, volume: {enabled: true, claim: changes}}`, "", "RollingUpdate", []string{"--history=false"}},
			"of a size":             {`history: {bytes: 1073741824}`, "", "RollingUpdate", []string{"--history-bytes=1073741824"}},
			"in an emptyDir":        {`{replicas: 2, history: {volume: {enabled: true, size: 2Gi}}}`, `{"emptyDir":{"sizeLimit":"2Gi"},"name":"history"}`, "RollingUpdate", []string{"--history-dir=/var/lib/graphview"}},
			"in a claim":            {`history: {volume: {enabled: true, claim: changes}}`, `{"name":"history","persistentVolumeClaim":{"claimName":"changes"}}`, "Recreate", []string{"--history-dir=/var/lib/graphview"}},
			"in a claim, no volume": {`history: {volume: {claim: changes}}`, "", "RollingUpdate", nil},
		} {
			all := objects(t, test.values)
			deployment := installation.Find(all, "Deployment", "graphview-manager")
			if strategy, _, _ := unstructured.NestedString(deployment.Object, "spec", "strategy", "type"); strategy != test.wantStrategy {
				t.Errorf("%s: the strategy is %s, want %s", name, strategy, test.wantStrategy)
			}
			volumes, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "volumes")
			mounts, _ := container(t, all, "volumeMounts").([]any)
			volume, mounted := named(t, volumes, "history"), named(t, mounts, "history")
			if volume != test.wantVolume || (mounted == `{"mountPath":"/var/lib/graphview","name":"history"}`) != (test.wantVolume != "") {
				t.Errorf("%s: the volume is %s, mounted as %s; want %s", name, volume, mounted, test.wantVolume)
			}
			var args []string
			given, _ := container(t, all, "args").([]any)
			for _, arg := range given {
				if strings.HasPrefix(arg.(string), "--history") {
					args = append(args, arg.(string))
				}
			}
			if !slices.Equal(args, test.wantArgs) {
				t.Errorf("%s: the flags are %q, want %q", name, args, test.wantArgs)
			}
		}
	})
	t.Run("every mode that is not the operator's own mounts a certificate", func(t *testing.T) {
		for name, test := range map[string]struct {
			values         string
			wantArg        bool
			wantAnnotation bool
			wantBundle     bool
		}{
			"operator":    {`{}`, false, false, false},
			"certManager": {`certificates: {source: certManager}`, true, true, false},
			"secret":      {`certificates: {source: secret, caBundle: "-----BEGIN CERTIFICATE-----"}`, true, false, true},
		} {
			all := objects(t, test.values)
			args, _ := container(t, all, "args").([]any)
			if got := slices.Contains(args, any("--stream-cert-dir=/certificates")); got != test.wantArg {
				t.Errorf("%s: files are served: %t", name, got)
			}
			service := installation.Find(all, "APIService", "v1alpha1.stream.graphview.dev")
			if got := service.GetAnnotations()["cert-manager.io/inject-ca-from"] != ""; got != test.wantAnnotation {
				t.Errorf("%s: cert-manager is asked: %t", name, got)
			}
			if _, got, _ := unstructured.NestedString(service.Object, "spec", "caBundle"); got != test.wantBundle {
				t.Errorf("%s: a caBundle is given: %t", name, got)
			}
		}
	})
}

// named returns the element of a list with a name as JSON, "" if there is none.
func named(t *testing.T, list []any, name string) string {
	t.Helper()
	for _, element := range list {
		if element.(map[string]any)["name"] == name {
			text, err := json.Marshal(element)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	return ""
}

var valuesBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")

// TestDocumentedValues: the values that docs/install.md and docs/clients.md give are values.
func TestDocumentedValues(t *testing.T) {
	found := 0
	for _, name := range []string{"install.md", "clients.md"} {
		page, err := os.ReadFile(filepath.Join(root, "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range valuesBlock.FindAllStringSubmatch(string(page), -1) {
			if strings.Contains(block[1], "\nkind:") || strings.HasPrefix(block[1], "operator:") {
				continue // a manifest, or a part of values
			}
			objects(t, block[1])
			found++
		}
	}
	if found < 6 {
		t.Errorf("%d blocks", found)
	}
}
