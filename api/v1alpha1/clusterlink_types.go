package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterLink registers a member cluster at a hub: it says how the member authenticates, and
// reports whether it is connected.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=clusterlinks,singular=clusterlink,scope=Cluster,shortName=gvlink
// +kubebuilder:printcolumn:name="Connected",type=string,JSONPath=`.status.conditions[?(@.type=="Connected")].status`,description="Whether the member has a tunnel to the hub"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Connected")].reason`,description="Why the member is connected or not"
// +kubebuilder:printcolumn:name="Tunnels",type=integer,JSONPath=`.status.tunnels`,description="Tunnels of the member's replicas"
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`,description="Version of the member"
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.conditions[?(@.type=="Connected")].lastTransitionTime`,description="When Connected last changed"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="the name is part of a URL: at most 63 lower-case letters, digits and hyphens"
type ClusterLink struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec says how the member authenticates.
	// +required
	Spec ClusterLinkSpec `json:"spec,omitzero"`

	// status says whether the member is connected. Until the hub has seen the ClusterLink
	// its observedGeneration is -1, so that kstatus does not take it for settled.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status ClusterLinkStatus `json:"status,omitzero"`
}

// ClusterLinkList is a list of ClusterLinks.
//
// +kubebuilder:object:root=true
type ClusterLinkList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the ClusterLinks.
	// +required
	Items []ClusterLink `json:"items"`
}

// ClusterLinkSpec says how a member authenticates.
type ClusterLinkSpec struct {
	// displayName is the name of the cluster that is shown to users.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	DisplayName string `json:"displayName,omitempty"`

	// suspend ends the member's tunnels and refuses new ones.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// aliases are the names of this cluster in objects of other clusters, such as
	// argocd:https://eu-1.example.com, the server or the name of the destination of an
	// Argo CD Application; kubeconfig:flux-system/eu-1, the Secret or the ConfigMap of a
	// Flux kubeConfig; capi:fleet/eu-1, a Cluster of Cluster API. Those in the graphs of a
	// member begin with its name and a slash: mgmt/capi:fleet/eu-1. An alias of two
	// ClusterLinks names neither.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=3
	// +kubebuilder:validation:items:MaxLength=576
	Aliases []string `json:"aliases,omitempty"`

	// identity is the identity of the member's ServiceAccount.
	// +required
	Identity ClusterLinkIdentity `json:"identity,omitzero"`
}

// ClusterLinkIdentity says which tokens the hub accepts from the member. Their audience is
// the name of the hub. Two ClusterLinks with equal issuer, jwks and subject are both refused.
type ClusterLinkIdentity struct {
	// issuer is the issuer of ServiceAccount tokens of the member's cluster, as in
	// /.well-known/openid-configuration of its API server. Without jwks it must be an
	// https URL that the hub can reach.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Issuer string `json:"issuer,omitempty"`

	// subject is the member's ServiceAccount.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^system:serviceaccount:[a-z0-9]([-a-z0-9]*[a-z0-9])?:[a-z0-9]([-.a-z0-9]*[a-z0-9])?$')",message="must be a ServiceAccount such as system:serviceaccount:graphview-system:graphview-manager"
	Subject string `json:"subject,omitempty"`

	// jwks are the issuer's public keys, as kubectl get --raw /openid/v1/jwks prints them.
	// If absent, the hub reads the keys from the issuer and follows their rotation. Leave
	// it out for clusters that rotate their keys, such as EKS.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	JWKS string `json:"jwks,omitempty"`

	// caBundle holds the issuer's CA certificates in PEM, for an issuer that the hub's
	// system CAs do not cover. It is ignored with jwks.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	CABundle string `json:"caBundle,omitempty"`
}

// ClusterLinkStatus says whether the member of a ClusterLink is connected.
type ClusterLinkStatus struct {
	// observedGeneration is the metadata.generation that this status describes, or -1
	// before the hub has seen the ClusterLink.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// tunnels is the number of tunnels of the member's replicas.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Tunnels int32 `json:"tunnels,omitempty"`

	// version is the lowest version among the member's replicas.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// conditions are Accepted and Connected.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// A ClusterLink has the condition Accepted, with the reasons Accepted, InvalidKeys and
// IdentityNotUnique, and the condition Connected.
const (
	// ConditionConnected says whether the member has a tunnel to the hub.
	ConditionConnected = "Connected"

	// ReasonInvalidKeys: False, identity.jwks, identity.caBundle or identity.issuer cannot be
	// used. The message says why.
	ReasonInvalidKeys = "InvalidKeys"
	// ReasonIdentityNotUnique: False, another ClusterLink has the same identity, so both
	// are refused.
	ReasonIdentityNotUnique = "IdentityNotUnique"

	// ReasonConnected: True, the member has a tunnel to the hub.
	ReasonConnected = "Connected"
	// ReasonNeverConnected: False, the member has had no tunnel since the ClusterLink was
	// created or the hub started.
	ReasonNeverConnected = "NeverConnected"
	// ReasonLost: False, the last tunnel has ended.
	ReasonLost = "Lost"
	// ReasonUnknownKey: False, a token was not signed with a key of the ClusterLink.
	ReasonUnknownKey = "UnknownKey"
	// ReasonWrongSubject: False, a token had another subject, audience or issuer, or has
	// expired. The message says which.
	ReasonWrongSubject = "WrongSubject"
	// ReasonDiscoveryFailed: False, the issuer's keys could not be read.
	ReasonDiscoveryFailed = "DiscoveryFailed"
	// ReasonSuspended: False, spec.suspend is set.
	ReasonSuspended = "Suspended"
)
