package watch

import (
	"fmt"
	"strings"
)

// pod returns the JSON of a pod as an API server sends it: some 7.5 KB, half of them
// managedFields.
func pod(i int) string {
	app := fmt.Sprintf("app-%d", i%50)
	id := fmt.Sprintf("%08x-%04x-4%03x-9%03x-%012x", uint32(i)*2654435761, i%65536, i%4096, (i*7)%4096, uint64(i)*11400714819323198485>>16)
	var b strings.Builder
	fmt.Fprintf(&b, `{"metadata":{"name":"%s-6d5f9c7b8d-%05x","generateName":"%s-6d5f9c7b8d-","namespace":"team-%d","uid":"%s","resourceVersion":"%d","generation":1,"creationTimestamp":"2026-11-20T08:%02d:%02dZ",`,
		app, i, app, i%10, id, 100000+i, i/60%60, i%60)
	fmt.Fprintf(&b, `"labels":{"app.kubernetes.io/name":"%s","app.kubernetes.io/instance":"%s-prod","pod-template-hash":"6d5f9c7b8d"},"annotations":{"prometheus.io/scrape":"true","prometheus.io/port":"8080","%s":"{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}"},`, app, app, lastApplied)
	fmt.Fprintf(&b, `"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"%s-6d5f9c7b8d","uid":"aaaaaaaa-bbbb-4ccc-8ddd-%012x","controller":true,"blockOwnerDeletion":true}],"managedFields":[`, app, i%50)
	for j, manager := range []string{"kube-controller-manager", "kubelet", "kube-scheduler"} {
		if j > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"manager":%q,"operation":"Update","apiVersion":"v1","time":"2026-11-20T08:00:00Z","fieldsType":"FieldsV1","fieldsV1":{`, manager)
		for k := range 18 {
			fmt.Fprintf(&b, `"f:field%02d":{".":{},"f:name":{},"k:{\"containerPort\":%d}":{}},`, k, 8000+k)
		}
		b.WriteString(`"f:status":{}}}`)
	}
	b.WriteString(`]},"spec":{"volumes":[{"name":"config","configMap":{"name":"` + app + `-config","defaultMode":420}},{"name":"tls","secret":{"secretName":"` + app + `-tls","defaultMode":420}},{"name":"kube-api-access","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}],"containers":[`)
	for j, container := range []string{"main", "proxy"} {
		if j > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":%q,"image":"registry.example.com/%s/%s:1.%d.0","args":["--config=/etc/config/app.yaml","--verbose"],"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"env":[{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},{"name":"PASSWORD","valueFrom":{"secretKeyRef":{"name":"%s-credentials","key":"password"}}}],"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},"volumeMounts":[{"name":"config","mountPath":"/etc/config"},{"name":"tls","mountPath":"/etc/tls","readOnly":true},{"name":"kube-api-access","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"livenessProbe":{"httpGet":{"path":"/healthz","port":8080,"scheme":"HTTP"},"initialDelaySeconds":5,"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}`, container, app, container, i%9, app)
	}
	fmt.Fprintf(&b, `],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"%s","serviceAccount":"%s","nodeName":"node-%d","securityContext":{},"schedulerName":"default-scheduler","priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},`, app, app, i%100)
	fmt.Fprintf(&b, `"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-20T08:01:%02dZ"},{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-20T08:00:%02dZ"}],"hostIP":"10.0.0.%d","podIP":"10.244.%d.%d","startTime":"2026-11-20T08:00:%02dZ","qosClass":"Burstable"}}`,
		i%60, i%60, i%100, i/250%250, i%250, i%60)
	return b.String()
}

var podMeta = typeMeta{apiVersion: []byte(`"v1"`), kind: []byte(`"Pod"`)}
