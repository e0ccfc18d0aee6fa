package health

import "strings"

// words are the texts that most objects have, so that they are not allocated for each
// object.
var words = func() map[string]string {
	all := make(map[string]string)
	for _, word := range []string{
		"True", "False", "Unknown",
		"Running", "Pending", "Succeeded", "Failed", "Active", "Bound", "Available",
		"Ready", "Initialized", "ContainersReady", "PodScheduled", "PodReadyToStartContainers", "DisruptionTarget",
		"Progressing", "ReplicaFailure", "NewReplicaSetAvailable", "MinimumReplicasAvailable", "MinimumReplicasUnavailable",
		"PodReadyToStartContainers", "Complete", "SuccessCriteriaMet", "Suspended", "DisruptionAllowed", "SufficientPods", "InsufficientPods",
		"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "Reconciling", "Stalled", "Synced",
		"Completed", "Error", "CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "ContainerCreating", "PodInitializing", "ContainersNotReady",
		"ClusterIP", "LoadBalancer", "NodePort", "ExternalName", "RollingUpdate", "OnDelete", "Recreate", "Always", "OnFailure", "Never",
	} {
		all[word] = word
	}
	return all
}()

// meaning is what the type of a True condition says by itself.
type meaning struct{ fails, stops bool }

// meanings are those of words, so that they are not worked out for each object.
var meanings = func() map[string]meaning {
	all := make(map[string]meaning, len(words))
	for word := range words {
		all[word] = newMeaning(word)
	}
	return all
}()

func meaningOf(kind string) meaning {
	if m, known := meanings[kind]; known {
		return m
	}
	return newMeaning(kind)
}

// newMeaning is that of a type. An object that is Expired, such as a NodeClaim, works
// until it is replaced.
func newMeaning(kind string) meaning {
	return meaning{fails: failure(kind) && kind != "Expired" || strings.HasSuffix(kind, "Pressure") || kind == "NetworkUnavailable", stops: stops(kind)}
}

// interned is a text of an object, without a copy where it is one of words.
func interned(text []byte) string {
	if word, known := words[string(text)]; known {
		return word
	}
	return string(text)
}
