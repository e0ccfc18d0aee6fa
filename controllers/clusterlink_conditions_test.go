package controllers

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
)

func TestLinkConditions(t *testing.T) {
	linkOf := func(name string, known ...v1alpha1.ClusterName) v1alpha1.ClusterLink {
		return v1alpha1.ClusterLink{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 3}, Spec: v1alpha1.ClusterLinkSpec{KnownAs: known}}
	}
	server := v1alpha1.ClusterName{Type: v1alpha1.ClusterNameArgoCD, Name: "https://eu.example.com"}
	elsewhere := v1alpha1.ClusterName{Type: v1alpha1.ClusterNameCAPI, Name: "fleet/eu", Cluster: "mgmt"}
	for name, test := range map[string]struct {
		link    v1alpha1.ClusterLink
		others  []v1alpha1.ClusterLink
		refused error
		state   LinkState
		want    map[string]string
	}{
		"connected": {
			linkOf("eu", server), []v1alpha1.ClusterLink{linkOf("eu", server), linkOf("us")}, nil, LinkState{Reason: v1alpha1.ReasonConnected},
			map[string]string{
				"Accepted": "True Accepted: A token of this identity opens a tunnel.", "Connected": "True Connected: The cluster has a tunnel to the hub.",
				"Ready": "True Ready: Graphs of the cluster can be opened.", "Effective": "True Effective: Each name of the cluster names it alone.",
			},
		},
		"the hub says why": {
			linkOf("eu"), nil, nil, LinkState{Reason: v1alpha1.ReasonUnknownKey, Message: "key 7 is not one of jwks"},
			map[string]string{
				"Accepted": "True Accepted: A token of this identity opens a tunnel.", "Connected": "False UnknownKey: key 7 is not one of jwks",
				"Ready": "False UnknownKey: key 7 is not one of jwks", "Effective": "True Effective: Each name of the cluster names it alone.",
			},
		},
		"suspended": {
			linkOf("eu"), nil, nil, LinkState{Reason: v1alpha1.ReasonSuspended},
			map[string]string{
				"Accepted": "True Accepted: A token of this identity opens a tunnel.", "Connected": "False Suspended: spec.suspend is set.",
				"Ready": "False Suspended: spec.suspend is set.", "Effective": "True Effective: Each name of the cluster names it alone.",
			},
		},
		"refused": {
			linkOf("eu"), nil, errors.New("jwks: no keys"), LinkState{Reason: v1alpha1.ReasonLost},
			map[string]string{
				"Accepted": "False InvalidKeys: jwks: no keys", "Connected": "False Lost: " + connectionTexts[v1alpha1.ReasonLost],
				"Ready": "False NotAccepted: The identity is not accepted: see the condition Accepted.", "Stalled": "True NotAccepted: The identity is not accepted: see the condition Accepted.",
				"Effective": "True Effective: Each name of the cluster names it alone.",
			},
		},
		"another link proves the same": {
			linkOf("eu"), nil, nil, LinkState{NotUnique: true, Reason: v1alpha1.ReasonNeverConnected},
			map[string]string{
				"Accepted":  "False IdentityNotUnique: Another ClusterLink has the same issuer, keys and subject: a token would prove both.",
				"Connected": "False NeverConnected: " + connectionTexts[v1alpha1.ReasonNeverConnected],
				"Ready":     "False NotAccepted: The identity is not accepted: see the condition Accepted.", "Stalled": "True NotAccepted: The identity is not accepted: see the condition Accepted.",
				"Effective": "True Effective: Each name of the cluster names it alone.",
			},
		},
		"names without effect": {
			linkOf("eu", elsewhere, server), []v1alpha1.ClusterLink{linkOf("eu", elsewhere, server), linkOf("us", server)}, nil, LinkState{Reason: v1alpha1.ReasonConnected},
			map[string]string{
				"Accepted": "True Accepted: A token of this identity opens a tunnel.", "Connected": "True Connected: The cluster has a tunnel to the hub.",
				"Ready": "True Ready: Graphs of the cluster can be opened.",
				"Effective": "False ClusterNotFound: spec.knownAs[0].cluster: there is no ClusterLink \"mgmt\"; see kubectl get clusterlinks\n" +
					"spec.knownAs[1]: argocd:https://eu.example.com is also a name of ClusterLink us, so it names neither; remove it from one of them",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			conditions := []metav1.Condition{{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonNotAccepted}}
			setLinkConditions(&conditions, &test.link, test.others, test.refused, test.state)
			if diff := cmp.Diff(test.want, textsOf(t, conditions, 3)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestClusterName(t *testing.T) {
	for want, name := range map[string]v1alpha1.ClusterName{
		"argocd:in-cluster":  {Type: v1alpha1.ClusterNameArgoCD, Name: "in-cluster"},
		"mgmt/capi:fleet/eu": {Type: v1alpha1.ClusterNameCAPI, Name: "fleet/eu", Cluster: "mgmt"},
	} {
		if got := name.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
