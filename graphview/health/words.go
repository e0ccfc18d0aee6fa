package health

import "strings"

// words are the texts that most objects have, so that they are not allocated for each object, with
// what they mean as the types of conditions.
var words = func() map[string]*meaning {
	all := make(map[string]*meaning)
	for word := range strings.FieldsSeq(`True False Unknown Running Pending Succeeded Failed Active Bound Available
		Ready Initialized ContainersReady PodScheduled PodReadyToStartContainers DisruptionTarget
		Progressing ReplicaFailure NewReplicaSetAvailable MinimumReplicasAvailable MinimumReplicasUnavailable
		Complete SuccessCriteriaMet Suspended DisruptionAllowed SufficientPods InsufficientPods
		MemoryPressure DiskPressure PIDPressure NetworkUnavailable Reconciling Stalled Synced
		Completed Error CrashLoopBackOff ImagePullBackOff ErrImagePull ContainerCreating PodInitializing ContainersNotReady
		ClusterIP LoadBalancer NodePort ExternalName RollingUpdate OnDelete Recreate Always OnFailure Never`) {
		m := newMeaning(word)
		all[word] = &m
	}
	return all
}()

// meaning is what the type of a True condition says by itself.
type meaning struct {
	word         string
	fails, stops bool
}

// newMeaning is that of a type. An object that is Expired, such as a NodeClaim, works
// until it is replaced.
func newMeaning(kind string) meaning {
	return meaning{word: kind, fails: failure(kind) && kind != "Expired" || strings.HasSuffix(kind, "Pressure") || kind == "NetworkUnavailable" || kind == "Fallback", stops: stops(kind)}
}

// interned is a text of an object, without a copy where it is one of words.
func interned(text []byte) string {
	if m, known := words[string(text)]; known {
		return m.word
	}
	return string(text)
}
