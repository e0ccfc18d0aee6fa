package health

import "graphview.dev/graphview/jsontree"

// Shape is what Of reads, of any kind.
var Shape = func() *jsontree.Shape {
	shape := &jsontree.Shape{}
	metadata, spec, status := shape.Field("metadata"), shape.Field("spec"), shape.Field("status")
	members(metadata, "generation", "deletionTimestamp")
	metadata.Field("finalizers").First(1)
	members(metadata.Field("annotations"), append([]string{hpaConditions}, provisioning...)...)
	members(metadata.Field("labels"), headless)
	shape.Field("ports").First(1)
	members(spec,
		"replicas", "suspend", "suspended", "paused", "parallelism", "completions", "progressDeadlineSeconds", "type",
		"restartPolicy", "unschedulable", "instances")
	strategy := spec.Field("updateStrategy")
	strategy.Field("type")
	strategy.Field("rollingUpdate").Field("partition")
	members(status,
		"observedGeneration", "phase", "state", "status", "reason", "ready", "readyToUse", "error",
		"replicas", "readyReplicas", "readyCount", "availableReplicas", "updatedReplicas", "currentReplicas", "fullyLabeledReplicas",
		"currentRevision", "updateRevision", "desiredNumberScheduled", "currentNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady",
		"applied", "healthy", "deployed", "provisioned", "lifecycleState", "jobStatus", "jobDeploymentStatus", "jobManagerDeploymentStatus", "currentStatus",
		"succeeded", "startTime", "lastScheduleTime", "lastSuccessfulTime", "currentHealthy", "desiredHealthy", "readyInstances",
		"robustness", "printableStatus", "PostgresClusterStatus")
	status.Field("active").First(1)
	status.Field("health").Field("status") // a word in some projects, an object with one in others
	status.Field("state").Field("phase")   // likewise
	status.Field("conditionStatus").Field("ready")
	status.Field("connectionState").Field("lastObservedState")
	status.Field("ceph").Field("health")
	status.Field("applicationState").Field("state")
	status.Field("allocatedResourceStatuses").Field("storage")
	status.Field("loadBalancer").Field("ingress").First(1)
	status.Field("operationState").Field("phase")

	most := maxElements + 1 // with one more a list is too long
	conditions := func(of *jsontree.Shape, most int) {
		members(of.Field("conditions").First(most), "type", "status", "reason", "lastTransitionTime", "observedGeneration")
	}
	conditions(status, most)
	for _, list := range elementLists {
		conditions(status.Field(list).First(most), perElement+1)
	}
	shape.Field("endpoints").First(most).Field("conditions").Field("ready")
	for _, list := range containerLists {
		container := status.Field(list).First(most)
		container.Field("ready")
		container.Field("state").Field("waiting").Field("reason")
		members(container.Field("state").Field("terminated"), "reason", "exitCode")
		members(container.Field("lastState").Field("terminated"), "reason", "exitCode")
	}
	return shape
}()

func members(shape *jsontree.Shape, names ...string) {
	for _, name := range names {
		shape.Field(name)
	}
}
