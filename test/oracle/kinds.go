package oracle

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	classes           = schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
	attributesClasses = schema.GroupKind{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}
	drivers           = schema.GroupKind{Group: "storage.k8s.io", Kind: "CSIDriver"}
)

// core are the kinds of the core group.
func (c *collector) core(kind string) {
	switch kind {
	case "Pod":
		c.podSpec("spec")
		c.uses("r", "spec.nodeName", core("Node"), text(c.tree, "spec.nodeName"))
		for _, status := range items(c.tree, "status.resourceClaimStatuses") {
			c.uses("r", "status.resourceClaimStatuses[].resourceClaimName", claims, text(status, "resourceClaimName"))
		}
		const extended = "status.extendedResourceClaimStatus.resourceClaimName"
		c.uses("r", extended, claims, text(c.tree, extended))
	case "PodTemplate":
		c.podSpec("template.spec")
	case "ReplicationController":
		c.podSpec("spec.template.spec")
	case "Service":
		if pairs, ok := at(c.tree, "spec.selector").(map[string]any); ok && len(pairs) > 0 {
			selector := labels.Set{}
			for key, value := range pairs {
				selector[key], _ = value.(string)
			}
			c.selects("spec.selector", selector.AsSelectorPreValidated())
		}
	case "Endpoints":
		for _, subset := range items(c.tree, "subsets") {
			for _, list := range []string{"addresses", "notReadyAddresses"} {
				for _, address := range items(subset, list) {
					target := at(address, "targetRef")
					c.object("r", "subsets[]."+list+"[].targetRef", byAPIVersion(target), target)
				}
			}
		}
	case "ServiceAccount":
		for _, list := range []string{"secrets", "imagePullSecrets"} {
			for _, secret := range items(c.tree, list) {
				c.uses("t", list+"[].name", core("Secret"), text(secret, "name"))
			}
		}
	case "PersistentVolumeClaim":
		c.claim("r", "spec", at(c.tree, "spec"))
	case "PersistentVolume":
		c.volumeSource()
	}
}

// volumeSource is what a PersistentVolume's spec refers to; its Secrets are the
// storage driver's to use.
func (c *collector) volumeSource() {
	spec := at(c.tree, "spec")
	c.object("r", "spec.claimRef", core("PersistentVolumeClaim"), at(spec, "claimRef"))
	c.uses("r", "spec.storageClassName", classes, text(spec, "storageClassName"))
	c.uses("r", "spec.volumeAttributesClassName", attributesClasses, text(spec, "volumeAttributesClassName"))
	c.uses("r", "spec.csi.driver", drivers, text(spec, "csi.driver"))
	for _, secret := range []string{
		"csi.controllerPublishSecretRef", "csi.controllerExpandSecretRef", "csi.nodeStageSecretRef", "csi.nodePublishSecretRef",
		"csi.nodeExpandSecretRef", "cephfs.secretRef", "cinder.secretRef", "flexVolume.secretRef", "iscsi.secretRef",
		"rbd.secretRef", "scaleIO.secretRef", "storageos.secretRef",
	} {
		c.object("t", "spec."+secret, core("Secret"), at(spec, secret))
	}
	// Where these say no namespace, the claim's is meant.
	c.usesIn(first(text(spec, "azureFile.secretNamespace"), text(spec, "claimRef.namespace")),
		"t", "spec.azureFile.secretName", core("Secret"), text(spec, "azureFile.secretName"))
	c.usesIn(first(text(spec, "glusterfs.endpointsNamespace"), text(spec, "claimRef.namespace")),
		"r", "spec.glusterfs.endpoints", core("Endpoints"), text(spec, "glusterfs.endpoints"))
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func (c *collector) storage(kind string) {
	if kind != "VolumeAttachment" {
		return
	}
	c.uses("r", "spec.attacher", drivers, text(c.tree, "spec.attacher"))
	c.uses("r", "spec.nodeName", core("Node"), text(c.tree, "spec.nodeName"))
	c.uses("r", "spec.source.persistentVolumeName", core("PersistentVolume"), text(c.tree, "spec.source.persistentVolumeName"))
}

// network are the kinds of networking.k8s.io and discovery.k8s.io.
func (c *collector) network(kind string) {
	switch kind {
	case "EndpointSlice":
		pairs, _ := at(c.tree, "metadata.labels").(map[string]any)
		service, _ := pairs["kubernetes.io/service-name"].(string)
		c.uses("r", "metadata.labels['kubernetes.io/service-name']", core("Service"), service)
		for _, endpoint := range items(c.tree, "endpoints") {
			target := at(endpoint, "targetRef")
			c.object("r", "endpoints[].targetRef", byAPIVersion(target), target)
		}
	case "Ingress":
		c.uses("r", "spec.ingressClassName", schema.GroupKind{Group: "networking.k8s.io", Kind: "IngressClass"}, text(c.tree, "spec.ingressClassName"))
		c.backend("spec.defaultBackend", at(c.tree, "spec.defaultBackend"))
		for _, rule := range items(c.tree, "spec.rules") {
			for _, path := range items(rule, "http.paths") {
				c.backend("spec.rules[].http.paths[].backend", at(path, "backend"))
			}
		}
		for _, tls := range items(c.tree, "spec.tls") {
			c.uses("r", "spec.tls[].secretName", core("Secret"), text(tls, "secretName"))
		}
	case "IngressClass":
		parameters := at(c.tree, "spec.parameters")
		c.object("r", "spec.parameters", byAPIGroup(parameters), parameters)
	case "NetworkPolicy":
		c.selects("spec.podSelector", parseSelector(at(c.tree, "spec.podSelector")))
		for _, peers := range [][2]string{{"ingress", "from"}, {"egress", "to"}} {
			for _, rule := range items(c.tree, "spec."+peers[0]) {
				for _, peer := range items(rule, peers[1]) {
					// Pods of other namespaces are not followed.
					if at(peer, "namespaceSelector") == nil {
						c.selects("spec."+peers[0]+"[]."+peers[1]+"[].podSelector", parseSelector(at(peer, "podSelector")))
					}
				}
			}
		}
	case "IPAddress":
		parent := at(c.tree, "spec.parentRef")
		if text(parent, "group") == "" && text(parent, "resource") == "services" {
			c.object("r", "spec.parentRef", core("Service"), parent)
		}
	}
}

func (c *collector) backend(path string, backend any) {
	c.uses("r", path+".service.name", core("Service"), text(backend, "service.name"))
	other := at(backend, "resource")
	c.uses("r", path+".resource.name", byAPIGroup(other), text(other, "name"))
}
