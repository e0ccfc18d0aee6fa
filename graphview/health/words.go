package health

// words are what objects mostly say, so that it is not made anew for each object.
var words = func() map[string]string {
	all := make(map[string]string)
	for _, word := range []string{
		"True", "False", "Unknown",
		"Running", "Pending", "Succeeded", "Failed", "Active", "Bound", "Available",
		"Ready", "Initialized", "ContainersReady", "PodScheduled", "PodReadyToStartContainers", "DisruptionTarget",
		"Progressing", "ReplicaFailure", "NewReplicaSetAvailable", "MinimumReplicasAvailable", "MinimumReplicasUnavailable",
		"Complete", "SuccessCriteriaMet", "Suspended", "DisruptionAllowed", "SufficientPods", "InsufficientPods",
		"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "Reconciling", "Stalled", "Synced",
		"Completed", "Error", "CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "ContainerCreating", "PodInitializing", "ContainersNotReady",
		"ClusterIP", "LoadBalancer", "NodePort", "ExternalName", "RollingUpdate", "OnDelete", "Recreate", "Always", "OnFailure", "Never",
	} {
		all[word] = word
	}
	return all
}()

// spoken is a text that an object says.
func spoken(text []byte) string {
	if word, known := words[string(text)]; known {
		return word
	}
	return string(text)
}
