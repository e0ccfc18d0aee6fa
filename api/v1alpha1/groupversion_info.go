package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is graphview.dev/v1alpha1.
var GroupVersion = schema.GroupVersion{Group: "graphview.dev", Version: "v1alpha1"}

var schemeBuilder = runtime.NewSchemeBuilder(addTypes)

// AddToScheme makes the types of this package known to a scheme.
var AddToScheme = schemeBuilder.AddToScheme

func addTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &GraphView{}, &GraphViewList{}, &ReferenceRule{}, &ReferenceRuleList{}, &ClusterLink{}, &ClusterLinkList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
