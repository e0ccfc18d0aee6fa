package operations

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/fixture"
)

// ward has an object in each health, one of them with a missing reference, and two views
// that show all of them.
const ward = `
apiVersion: v1
kind: Pod
metadata: {name: ok, namespace: ward, labels: {in: ward}}
spec: {automountServiceAccountToken: false, containers: [{name: main, image: example.com/main}]}
---
apiVersion: v1
kind: Pod
metadata: {name: degraded, namespace: ward, labels: {in: ward}}
spec:
  automountServiceAccountToken: false
  containers: [{name: main, image: example.com/main}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: absent}}]
---
apiVersion: v1
kind: Pod
metadata: {name: progressing, namespace: ward, labels: {in: ward}}
spec: {automountServiceAccountToken: false, containers: [{name: main, image: example.com/main}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: suspended, namespace: ward, labels: {in: ward}}
spec:
  suspend: true
  schedule: "0 0 1 1 *"
  jobTemplate: {spec: {template: {spec: {automountServiceAccountToken: false, restartPolicy: Never, containers: [{name: main, image: example.com/main}]}}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: unknown, namespace: ward, labels: {in: ward}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: terminating, namespace: ward, labels: {in: ward}, finalizers: [example.com/stay]}
` + wardView + wardView2

const (
	wardView  = "---\nmetadata: {name: first, namespace: ward}" + wardSpec
	wardView2 = "---\nmetadata: {name: second, namespace: ward}" + wardSpec
	wardSpec  = `
apiVersion: graphview.dev/v1alpha1
kind: GraphView
spec:
  serviceAccountName: viewer
  namespaces: {names: [ward]}
  queries:
  - include:
      resourceSelectorExpression: resource in ['pods', 'configmaps', 'cronjobs']
      object: {labelSelector: in=ward}
  - include:
      resourceSelectorExpression: resource == 'persistentvolumeclaims'
`
)

var healthStates = []string{"ok", "progressing", "degraded", "suspended", "terminating", "unknown"}

// TestHealthMetrics: the metrics count objects by health, and missing references,
// once for each GraphView that shows them, as the GraphViews' statuses do.
func TestHealthMetrics(t *testing.T) {
	fixture.Apply(t, cluster, viewerIn("ward")+ward)
	fixture.KubectlAfter(t, cluster, "delete", "namespace", "ward", "--wait=false")
	fixture.KubectlAfter(t, cluster, "delete", "graphviews", "-n", "ward", "--all")
	fixture.KubectlAfter(t, cluster, "patch", "configmap", "terminating", "-n", "ward", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	kubectl(t, "delete", "configmap", "terminating", "-n", "ward", "--wait=false")
	kubectl(t, "patch", "pod", "ok", "-n", "ward", "--subresource=status", "--type=merge", "-p",
		`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
	kubectl(t, "patch", "pod", "degraded", "-n", "ward", "--subresource=status", "--type=merge", "-p",
		`{"status":{"phase":"Running","containerStatuses":[{"name":"main","image":"","imageID":"","ready":false,"restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}`)

	each := map[string]float64{"missing": 1}
	for _, state := range healthStates {
		each[state] = 1
	}
	eventually(t, func() string {
		var views struct {
			Items []struct {
				Metadata struct{ Namespace, Name string }
				Status   struct {
					Health  map[string]float64
					Missing float64
				}
			}
		}
		if err := json.Unmarshal([]byte(kubectl(t, "get", "graphviews", "-A", "-o", "json")), &views); err != nil {
			t.Fatal(err)
		}
		sum, inWard := map[string]float64{}, 0
		for _, v := range views.Items {
			said := map[string]float64{"missing": v.Status.Missing}
			maps.Copy(said, v.Status.Health)
			for what, n := range said {
				sum[what] += n
			}
			if v.Metadata.Namespace == "ward" {
				inWard++
				if diff := cmp.Diff(each, said); diff != "" {
					return fmt.Sprintf("the status of %s (-want +got):\n%s", v.Metadata.Name, diff)
				}
			}
		}
		if inWard != 2 {
			return fmt.Sprintf("%d GraphViews", inWard)
		}
		_, series := scrape(t)
		told := map[string]float64{"missing": 0}
		for name, n := range series {
			if strings.HasPrefix(name, "graphview_missing_references{") {
				told["missing"] += n
			}
		}
		for _, state := range healthStates {
			told[state] = 0
			for name, n := range series {
				if strings.HasPrefix(name, fmt.Sprintf("graphview_objects{health=%q,", state)) {
					told[state] += n
				}
			}
		}
		for what, n := range told {
			if n != sum[what] {
				return fmt.Sprintf("the metrics say %v %s, the statuses together %v", n, what, sum[what])
			}
		}
		return ""
	})
}
