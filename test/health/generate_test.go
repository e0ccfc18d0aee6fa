package health

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// generate makes objects of the kinds that both peers or one of them know, with
// the fields that rules look at in all combinations that chance gives.
func generate(seed uint64, n int) []specimen {
	r := &random{rand.New(rand.NewPCG(seed, 0))}
	all := make([]specimen, 0, n)
	for i := range n {
		kind := kinds[i%len(kinds)]
		object := kind.make(r)
		object["apiVersion"], object["kind"] = kind.apiVersion, kind.kind
		metadata := map[string]any{"name": "x", "namespace": "shop", "creationTimestamp": created}
		if r.IntN(12) == 0 {
			metadata["deletionTimestamp"] = created
		}
		if r.IntN(3) > 0 {
			metadata["generation"] = int64(1 + r.IntN(2))
			status, _ := object["status"].(map[string]any)
			if _, set := status["observedGeneration"]; status != nil && !set && r.IntN(4) > 0 {
				status["observedGeneration"] = int64(1 + r.IntN(2))
			}
		}
		object["metadata"] = metadata
		all = append(all, specimen{fmt.Sprintf("generated %s %d/%d", kind.kind, seed, i), object})
	}
	return all
}

// created is long ago: what the peers make of time has then passed.
var created = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Format(time.RFC3339)

type random struct{ *rand.Rand }

func (r *random) one(of ...string) string { return of[r.IntN(len(of))] }

// some sets each of the numbers with a chance.
func (r *random) some(into map[string]any, names ...string) map[string]any {
	for _, name := range names {
		if r.IntN(4) > 0 {
			into[name] = int64(r.IntN(3))
		}
	}
	return into
}

func (r *random) conditions(reasons map[string][]string) []any {
	list := []any{}
	for _, kind := range sortedKeys(reasons) {
		if r.IntN(3) == 0 {
			continue
		}
		list = append(list, map[string]any{
			"type": kind, "status": r.one("True", "False", "Unknown"), "reason": r.one(reasons[kind]...),
			"message": "as it is", "lastTransitionTime": created,
		})
	}
	return list
}

func (r *random) container() map[string]any {
	c := map[string]any{"name": "c", "ready": r.IntN(2) == 0, "restartCount": int64(r.IntN(3)), "image": "i", "imageID": ""}
	switch r.IntN(4) {
	case 0:
		c["state"] = map[string]any{"waiting": map[string]any{"reason": r.one("ContainerCreating", "PodInitializing", "CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError")}}
	case 1:
		c["state"] = map[string]any{"terminated": map[string]any{"exitCode": int64(r.IntN(2)), "reason": r.one("Completed", "Error", "OOMKilled")}}
	default:
		c["state"] = map[string]any{"running": map[string]any{"startedAt": created}}
	}
	if r.IntN(3) == 0 {
		c["lastState"] = map[string]any{"terminated": map[string]any{"exitCode": int64(r.IntN(2)), "reason": r.one("Error", "OOMKilled")}}
	}
	return c
}

type generated struct {
	apiVersion, kind string
	make             func(r *random) map[string]any
}

var kinds = []generated{
	{"apps/v1", "Deployment", func(r *random) map[string]any {
		spec := r.some(map[string]any{}, "replicas")
		if r.IntN(2) == 0 {
			spec["progressDeadlineSeconds"] = int64(600)
		}
		if r.IntN(8) == 0 {
			spec["paused"] = true
		}
		status := r.some(map[string]any{}, "replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
		status["conditions"] = r.conditions(map[string][]string{
			"Progressing": {"NewReplicaSetAvailable", "ReplicaSetUpdated", "ProgressDeadlineExceeded"}, "Available": {"MinimumReplicasAvailable", "MinimumReplicasUnavailable"},
		})
		return map[string]any{"spec": spec, "status": status}
	}},
	{"apps/v1", "StatefulSet", func(r *random) map[string]any {
		strategy := map[string]any{"type": r.one("RollingUpdate", "OnDelete")}
		if r.IntN(3) == 0 {
			strategy["rollingUpdate"] = map[string]any{"partition": int64(r.IntN(3))}
		}
		spec := r.some(map[string]any{"updateStrategy": strategy}, "replicas")
		status := r.some(map[string]any{}, "replicas", "readyReplicas", "currentReplicas", "updatedReplicas")
		status["currentRevision"], status["updateRevision"] = r.one("a", "b"), "b"
		return map[string]any{"spec": spec, "status": status}
	}},
	{"apps/v1", "DaemonSet", func(r *random) map[string]any {
		return map[string]any{
			"spec":   map[string]any{"updateStrategy": map[string]any{"type": r.one("RollingUpdate", "OnDelete")}},
			"status": r.some(map[string]any{}, "desiredNumberScheduled", "currentNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady"),
		}
	}},
	{"apps/v1", "ReplicaSet", func(r *random) map[string]any {
		status := r.some(map[string]any{}, "replicas", "readyReplicas", "availableReplicas", "fullyLabeledReplicas")
		status["conditions"] = r.conditions(map[string][]string{"ReplicaFailure": {"FailedCreate"}})
		return map[string]any{"spec": r.some(map[string]any{}, "replicas"), "status": status}
	}},
	{"v1", "Pod", func(r *random) map[string]any {
		containers := []any{}
		for range r.IntN(3) {
			containers = append(containers, r.container())
		}
		return map[string]any{
			"spec": map[string]any{"restartPolicy": r.one("Always", "Always", "Never", "OnFailure")},
			"status": map[string]any{
				"phase": r.one("Pending", "Running", "Succeeded", "Failed"), "containerStatuses": containers,
				"conditions": r.conditions(map[string][]string{"Ready": {"ContainersNotReady"}, "PodScheduled": {"Unschedulable", "SchedulerError"}}),
			},
		}
	}},
	{"batch/v1", "Job", func(r *random) map[string]any {
		status := r.some(map[string]any{}, "active", "succeeded", "failed")
		if r.IntN(2) == 0 {
			status["startTime"] = created
		}
		status["conditions"] = r.conditions(map[string][]string{"Complete": {""}, "Failed": {"BackoffLimitExceeded"}, "Suspended": {"JobSuspended"}})
		return map[string]any{"spec": r.some(map[string]any{}, "parallelism", "completions"), "status": status}
	}},
	{"v1", "PersistentVolumeClaim", func(r *random) map[string]any {
		return map[string]any{"status": map[string]any{"phase": r.one("Bound", "Pending", "Lost")}}
	}},
	{"v1", "Service", func(r *random) map[string]any {
		status := map[string]any{}
		if r.IntN(2) == 0 {
			status["loadBalancer"] = map[string]any{"ingress": []any{map[string]any{"ip": "192.0.2.1"}}}
		}
		spec := map[string]any{"type": r.one("ClusterIP", "LoadBalancer")}
		if r.IntN(3) > 0 {
			spec["clusterIP"] = "192.0.2.2"
		}
		return map[string]any{"spec": spec, "status": status}
	}},
	{"autoscaling/v2", "HorizontalPodAutoscaler", func(r *random) map[string]any {
		return map[string]any{"status": map[string]any{"conditions": r.conditions(map[string][]string{
			"AbleToScale": {"ReadyForNewScale", "FailedGetScale"}, "ScalingActive": {"ValidMetricFound", "FailedGetResourceMetric"}, "ScalingLimited": {"DesiredWithinRange"},
		})}}
	}},
	{"networking.k8s.io/v1", "Ingress", func(r *random) map[string]any {
		status := map[string]any{}
		if r.IntN(2) == 0 {
			status["loadBalancer"] = map[string]any{"ingress": []any{map[string]any{"ip": "192.0.2.1"}}}
		}
		return map[string]any{"status": status}
	}},
	{"apiextensions.k8s.io/v1", "CustomResourceDefinition", func(r *random) map[string]any {
		return map[string]any{"status": map[string]any{"conditions": r.conditions(map[string][]string{
			"NamesAccepted": {"NoConflicts", "PluralConflict"}, "Established": {"InitialNamesAccepted", "Installing"},
		})}}
	}},
	{"apiregistration.k8s.io/v1", "APIService", func(r *random) map[string]any {
		return map[string]any{"status": map[string]any{"conditions": r.conditions(map[string][]string{"Available": {"Passed", "MissingEndpoints"}})}}
	}},
	{"v1", "ConfigMap", func(*random) map[string]any { return map[string]any{} }},
	{"v1", "Secret", func(*random) map[string]any { return map[string]any{} }},
	{"example.com/v1", "Gadget", func(*random) map[string]any {
		return map[string]any{"status": map[string]any{"observedGeneration": "7f9c"}}
	}},
	{"example.com/v1", "Widget", func(r *random) map[string]any {
		return map[string]any{"status": map[string]any{"conditions": r.conditions(map[string][]string{
			"Ready": {"Succeeded", "Progressing", "InstallFailed"}, "Reconciling": {"Progressing"}, "Stalled": {"Broken"},
		})}}
	}},
}
