package controllers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
)

// connectionTexts are the messages of Connected for reasons to which the hub adds no details.
var connectionTexts = map[string]string{
	v1alpha1.ReasonConnected:      "The cluster has a tunnel to the hub.",
	v1alpha1.ReasonNeverConnected: "The cluster has opened no tunnel since the hub started: look at the log of its operator for 'Cannot open a tunnel to the hub'.",
	v1alpha1.ReasonLost:           "The last tunnel has ended. The cluster tries again within ten seconds: look at the log of its operator, and at its network.",
	v1alpha1.ReasonSuspended:      "spec.suspend is set.",
}

// setLinkConditions sets the conditions of a ClusterLink among others, from the error with which the hub
// refused its identity, and from the state of the link.
func setLinkConditions(conditions *[]metav1.Condition, link *v1alpha1.ClusterLink, others []v1alpha1.ClusterLink, refused error, state LinkState) {
	setStatus := conditionSetter(conditions, link.Generation)
	set := func(kind string, ok bool, reason, message string) {
		status := metav1.ConditionFalse
		if ok {
			status = metav1.ConditionTrue
		}
		setStatus(kind, status, reason, message)
	}
	connected, why := state.Reason == v1alpha1.ReasonConnected, cmp.Or(state.Message, connectionTexts[state.Reason])
	accepted := false
	switch {
	case refused != nil:
		set(v1alpha1.ConditionAccepted, false, v1alpha1.ReasonInvalidKeys, refused.Error())
	case state.NotUnique:
		set(v1alpha1.ConditionAccepted, false, v1alpha1.ReasonIdentityNotUnique, "Another ClusterLink has the same issuer, keys and subject: a token would prove both.")
	default:
		accepted = true
		set(v1alpha1.ConditionAccepted, true, v1alpha1.ReasonAccepted, "A token of this identity opens a tunnel.")
	}
	set(v1alpha1.ConditionConnected, connected, state.Reason, why)
	switch {
	case !accepted:
		const text = "The identity is not accepted: see the condition Accepted."
		set(v1alpha1.ConditionReady, false, v1alpha1.ReasonNotAccepted, text)
		set(v1alpha1.ConditionStalled, true, v1alpha1.ReasonNotAccepted, text)
	case connected:
		set(v1alpha1.ConditionReady, true, v1alpha1.ReasonReady, "Graphs of the cluster can be opened.")
	default:
		set(v1alpha1.ConditionReady, false, state.Reason, why)
	}
	if accepted {
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
	}
	if reason, texts := withoutEffect(link, others); reason != "" {
		set(v1alpha1.ConditionEffective, false, reason, strings.Join(texts, "\n"))
	} else {
		set(v1alpha1.ConditionEffective, true, v1alpha1.ReasonEffective, "Each name of the cluster names it alone.")
	}
}

// withoutEffect returns a line for each name of a ClusterLink that does not name its cluster, and the reason
// of the first; "" if each name does.
func withoutEffect(link *v1alpha1.ClusterLink, all []v1alpha1.ClusterLink) (reason string, texts []string) {
	for i, known := range link.Spec.KnownAs {
		if known.Cluster != "" && !slices.ContainsFunc(all, func(other v1alpha1.ClusterLink) bool { return other.Name == known.Cluster }) {
			reason = cmp.Or(reason, v1alpha1.ReasonClusterNotFound)
			texts = append(texts, fmt.Sprintf("spec.knownAs[%d].cluster: there is no ClusterLink %q; see kubectl get clusterlinks", i, known.Cluster))
		}
		if other := namesake(link.Name, known, all); other != "" {
			reason = cmp.Or(reason, v1alpha1.ReasonNameNotUnique)
			texts = append(texts, fmt.Sprintf("spec.knownAs[%d]: %s is also a name of ClusterLink %s, so it names neither; remove it from one of them", i, known, other))
		}
	}
	return reason, texts
}

// namesake returns another ClusterLink with a name, "" if there is none.
func namesake(link string, known v1alpha1.ClusterName, all []v1alpha1.ClusterLink) string {
	for n := range all {
		if all[n].Name != link && slices.Contains(all[n].Spec.KnownAs, known) {
			return all[n].Name
		}
	}
	return ""
}
