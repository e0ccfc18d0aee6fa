package oracle

import (
	"strings"

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
		c.uses("r", "status.nominatedNodeName", core("Node"), text(c.tree, "status.nominatedNodeName"))
		for _, status := range items(c.tree, "status.resourceClaimStatuses") {
			c.uses("r", "status.resourceClaimStatuses[].resourceClaimName", claims, text(status, "resourceClaimName"))
		}
		for _, status := range items(c.tree, "status.nodeAllocatableResourceClaimStatuses") {
			c.uses("r", "status.nodeAllocatableResourceClaimStatuses[].resourceClaimName", claims, text(status, "resourceClaimName"))
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
		if text(c.tree, "spec.type") == "ExternalName" {
			if name, namespace, ok := serviceHost(text(c.tree, "spec.externalName")); ok {
				c.usesIn(namespace, "r", "spec.externalName", core("Service"), name)
			}
		}
	case "Endpoints":
		c.endpoints()
	case "ServiceAccount":
		for _, list := range []string{"secrets", "imagePullSecrets"} {
			for _, secret := range items(c.tree, list) {
				c.uses("t", list+"[].name", core("Secret"), text(secret, "name"))
			}
		}
	case "Secret":
		c.uses("r", "metadata.annotations['kubernetes.io/service-account.name']", core("ServiceAccount"), c.annotation("kubernetes.io/service-account.name"))
	case "Event":
		c.object("r", "involvedObject", byAPIVersion(at(c.tree, "involvedObject")), at(c.tree, "involvedObject"))
		c.object("r", "related", byAPIVersion(at(c.tree, "related")), at(c.tree, "related"))
	case "ResourceQuota":
		c.quota()
	case "PersistentVolumeClaim":
		c.claim("r", "spec", at(c.tree, "spec"))
		c.uses("r", "status.currentVolumeAttributesClassName", attributesClasses, text(c.tree, "status.currentVolumeAttributesClassName"))
		const target = "status.modifyVolumeStatus.targetVolumeAttributesClassName"
		c.uses("r", target, attributesClasses, text(c.tree, target))
		c.uses("r", "metadata.annotations['volume.kubernetes.io/selected-node']", core("Node"), c.annotation("volume.kubernetes.io/selected-node"))
		c.driver("metadata.annotations['volume.kubernetes.io/storage-provisioner']", c.annotation("volume.kubernetes.io/storage-provisioner"))
	case "PersistentVolume":
		c.volumeSource("spec")
	}
}

// endpoints have the name of their Service.
func (c *collector) endpoints() {
	c.uses("r", "metadata.name", core("Service"), text(c.tree, "metadata.name"))
	for _, subset := range items(c.tree, "subsets") {
		for _, list := range []string{"addresses", "notReadyAddresses"} {
			for _, address := range items(subset, list) {
				target := at(address, "targetRef")
				c.object("r", "subsets[]."+list+"[].targetRef", byAPIVersion(target), target)
				c.uses("r", "subsets[]."+list+"[].nodeName", core("Node"), text(address, "nodeName"))
			}
		}
	}
}

func (c *collector) annotation(key string) string {
	pairs, _ := at(c.tree, "metadata.annotations").(map[string]any)
	value, _ := pairs[key].(string)
	return value
}

// serviceHost reads <service>.<namespace>.svc, with a domain behind it or not.
func serviceHost(host string) (name, namespace string, ok bool) {
	parts := strings.SplitN(host, ".", 4)
	if len(parts) < 3 || parts[2] != "svc" || parts[0] == "" || parts[1] == "" {
		return "", "", false
	}
	return parts[0], parts[1], true
}

// quota is for the pods of some priority classes.
func (c *collector) quota() {
	for _, expression := range items(c.tree, "spec.scopeSelector.matchExpressions") {
		if text(expression, "scopeName") != "PriorityClass" || text(expression, "operator") != "In" {
			continue
		}
		for _, value := range items(expression, "values") {
			class, _ := value.(string)
			c.uses("r", "spec.scopeSelector.matchExpressions[].values[]", schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, class)
		}
	}
}

// volumeSource is what a PersistentVolume's spec refers to; its Secrets are the
// storage driver's to use.
func (c *collector) volumeSource(path string) {
	spec := at(c.tree, path)
	c.object("r", path+".claimRef", core("PersistentVolumeClaim"), at(spec, "claimRef"))
	c.uses("r", path+".storageClassName", classes, text(spec, "storageClassName"))
	c.uses("r", path+".volumeAttributesClassName", attributesClasses, text(spec, "volumeAttributesClassName"))
	c.uses("r", path+".csi.driver", drivers, text(spec, "csi.driver"))
	for _, secret := range []string{
		"csi.controllerPublishSecretRef", "csi.controllerExpandSecretRef", "csi.nodeStageSecretRef", "csi.nodePublishSecretRef",
		"csi.nodeExpandSecretRef", "cephfs.secretRef", "cinder.secretRef", "flexVolume.secretRef", "iscsi.secretRef",
		"rbd.secretRef", "scaleIO.secretRef", "storageos.secretRef",
	} {
		c.object("t", path+"."+secret, core("Secret"), at(spec, secret))
	}
	// Where these say no namespace, the claim's is meant.
	c.usesIn(first(text(spec, "azureFile.secretNamespace"), text(spec, "claimRef.namespace")),
		"t", path+".azureFile.secretName", core("Secret"), text(spec, "azureFile.secretName"))
	c.usesIn(first(text(spec, "glusterfs.endpointsNamespace"), text(spec, "claimRef.namespace")),
		"r", path+".glusterfs.endpoints", core("Endpoints"), text(spec, "glusterfs.endpoints"))
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
	switch kind {
	case "VolumeAttachment":
		c.uses("r", "spec.attacher", drivers, text(c.tree, "spec.attacher"))
		c.uses("r", "spec.nodeName", core("Node"), text(c.tree, "spec.nodeName"))
		c.uses("r", "spec.source.persistentVolumeName", core("PersistentVolume"), text(c.tree, "spec.source.persistentVolumeName"))
		c.volumeSource("spec.source.inlineVolumeSpec")
	case "StorageClass":
		c.driver("provisioner", text(c.tree, "provisioner"))
		parameters, _ := c.tree["parameters"].(map[string]any)
		for _, use := range []string{"provisioner", "controller-publish", "controller-expand", "node-stage", "node-publish", "node-expand"} {
			key := "csi.storage.k8s.io/" + use + "-secret-name"
			name, _ := parameters[key].(string)
			namespace, _ := parameters["csi.storage.k8s.io/"+use+"-secret-namespace"].(string)
			if !strings.Contains(name+namespace, "$") { // a template
				c.usesIn(namespace, "t", "parameters['"+key+"']", core("Secret"), name)
			}
		}
	case "VolumeAttributesClass":
		c.uses("r", "driverName", drivers, text(c.tree, "driverName"))
	case "CSIStorageCapacity":
		c.uses("r", "storageClassName", classes, text(c.tree, "storageClassName"))
	case "CSINode":
		c.uses("r", "metadata.name", core("Node"), text(c.tree, "metadata.name"))
		for _, driver := range items(c.tree, "spec.drivers") {
			c.uses("r", "spec.drivers[].name", drivers, text(driver, "name"))
		}
	}
}

// driver refers to a CSI driver; other provisioners have a slash in their names.
func (c *collector) driver(field, provisioner string) {
	if !strings.Contains(provisioner, "/") {
		c.uses("r", field, drivers, provisioner)
	}
}
