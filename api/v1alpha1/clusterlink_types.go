package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterLink registers a cluster at a hub: it says how the operator of the cluster, its member,
// authenticates, and reports whether the cluster is connected.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=clusterlinks,singular=clusterlink,scope=Cluster,shortName=gvlink,categories=graphview-all
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether graphs of the cluster can be opened"
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`,description="Version of the member"
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.conditions[?(@.type=="Ready")].lastTransitionTime`,description="When Ready last changed"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="Why graphs of the cluster can be opened or not"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="The same in a word"
// +kubebuilder:printcolumn:name="Effective",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Effective")].status`,description="Whether each name in knownAs names this cluster alone"
// +kubebuilder:printcolumn:name="Tunnels",type=integer,priority=1,JSONPath=`.status.tunnels`,description="Tunnels of the member's replicas to one replica of the hub"
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

	// knownAs are the names of this cluster in objects of other clusters. A name of two
	// ClusterLinks names neither, and the condition Effective says so.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	KnownAs []ClusterName `json:"knownAs,omitempty"`

	// identity is the identity of the member's ServiceAccount.
	// +required
	Identity ClusterLinkIdentity `json:"identity,omitzero"`
}

// ClusterName is the name of a cluster in objects of another cluster.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'argocd' || self.name.matches('^[^/]+/[^/]+$')",message="a name of the types kubeconfig and capi is NAMESPACE/NAME of an object, such as flux-system/eu-1"
type ClusterName struct {
	// type says which objects use the name. argocd: Applications of Argo CD, by the server or the
	// name of their destination. kubeconfig: objects of Flux, by NAMESPACE/NAME of the Secret or the
	// ConfigMap with their kubeConfig. capi: objects of Cluster API, by NAMESPACE/NAME of the Cluster.
	// +required
	Type ClusterNameType `json:"type,omitempty"`

	// name is the name, such as https://eu-1.example.com or fleet/eu-1.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`

	// cluster is the name of the ClusterLink of the cluster that has the objects. Absent: they
	// are in the cluster of the hub.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Cluster string `json:"cluster,omitempty"`
}

// ClusterNameType is a type of objects with names for clusters.
//
// +kubebuilder:validation:Enum=argocd;kubeconfig;capi
type ClusterNameType string

// The types of names.
const (
	ClusterNameArgoCD     ClusterNameType = "argocd"
	ClusterNameKubeconfig ClusterNameType = "kubeconfig"
	ClusterNameCAPI       ClusterNameType = "capi"
)

// String returns TYPE:NAME, as in the graphs of the hub's cluster, or CLUSTER/TYPE:NAME.
func (n ClusterName) String() string {
	text := string(n.Type) + ":" + n.Name
	if n.Cluster != "" {
		text = n.Cluster + "/" + text
	}
	return text
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

	// conditions are Ready, Accepted, Connected, Effective, and Stalled while it is True.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// A ClusterLink has the condition Accepted, with the reasons Accepted, InvalidKeys and
// IdentityNotUnique, and the conditions Ready, Connected and Effective. Ready has the reason Ready,
// NotAccepted, or that of Connected. Stalled is True while the identity is not accepted.
const (
	// ConditionConnected says whether the member has a tunnel to the hub.
	ConditionConnected = "Connected"

	// ReasonNameNotUnique: Effective is False, a name in knownAs is also one of another ClusterLink.
	ReasonNameNotUnique = "NameNotUnique"
	// ReasonClusterNotFound: Effective is False, there is no ClusterLink of a cluster in knownAs.
	ReasonClusterNotFound = "ClusterNotFound"

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
