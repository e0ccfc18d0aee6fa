package oracle

import "k8s.io/apimachinery/pkg/runtime/schema"

// podSpec adds what a pod's spec, or that of a template, refers to. Containers'
// and mounted things are the object's own use; what the kubelet or a storage
// driver uses on its behalf is transitive.
func (c *collector) podSpec(path string) {
	spec := at(c.tree, path)
	field := func(name string) string { return path + "." + name }

	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, container := range items(spec, list) {
			c.container(field(list)+"[]", container)
		}
	}
	for _, volume := range items(spec, "volumes") {
		c.volume(field("volumes[]"), volume)
	}
	for _, secret := range items(spec, "imagePullSecrets") {
		c.uses("t", field("imagePullSecrets[].name"), core("Secret"), text(secret, "name"))
	}
	for _, claim := range items(spec, "resourceClaims") {
		c.uses("r", field("resourceClaims[].resourceClaimName"), claims, text(claim, "resourceClaimName"))
		c.uses("r", field("resourceClaims[].resourceClaimTemplateName"),
			schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}, text(claim, "resourceClaimTemplateName"))
	}
	c.uses("r", field("serviceAccountName"), core("ServiceAccount"), text(spec, "serviceAccountName"))
	c.uses("r", field("priorityClassName"), schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, text(spec, "priorityClassName"))
	c.uses("r", field("runtimeClassName"), schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}, text(spec, "runtimeClassName"))
	const group = "schedulingGroup.podGroupName"
	c.uses("r", field(group), schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PodGroup"}, text(spec, group))
	c.uses("r", field(windowsAccount), credentialSpec, text(spec, windowsAccount))
	c.uses("r", field("subdomain"), core("Service"), text(spec, "subdomain"))
}

var claims = schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceClaim"}

// windowsAccount is where containers and pods name the account that they run as on
// Windows.
const windowsAccount = "securityContext.windowsOptions.gmsaCredentialSpecName"

var credentialSpec = schema.GroupKind{Group: "windows.k8s.io", Kind: "GMSACredentialSpec"}

func (c *collector) container(path string, container any) {
	c.uses("r", path+"."+windowsAccount, credentialSpec, text(container, windowsAccount))
	for _, variable := range items(container, "env") {
		c.calls("t", path+".env[].value", text(variable, "value"))
		c.uses("r", path+".env[].valueFrom.configMapKeyRef.name", core("ConfigMap"), text(variable, "valueFrom.configMapKeyRef.name"))
		c.uses("r", path+".env[].valueFrom.secretKeyRef.name", core("Secret"), text(variable, "valueFrom.secretKeyRef.name"))
	}
	for _, field := range []string{"command", "args"} {
		for _, word := range items(container, field) {
			said, _ := word.(string)
			c.calls("t", path+"."+field+"[]", said)
		}
	}
	for _, source := range items(container, "envFrom") {
		c.uses("r", path+".envFrom[].configMapRef.name", core("ConfigMap"), text(source, "configMapRef.name"))
		c.uses("r", path+".envFrom[].secretRef.name", core("Secret"), text(source, "secretRef.name"))
	}
}

func (c *collector) volume(path string, volume any) {
	use := func(arc, field string, to schema.GroupKind) {
		c.uses(arc, path+"."+field, to, text(volume, field))
	}
	use("r", "configMap.name", core("ConfigMap"))
	use("r", "secret.secretName", core("Secret"))
	use("r", "persistentVolumeClaim.claimName", core("PersistentVolumeClaim"))
	use("r", "csi.driver", drivers)
	use("t", "csi.nodePublishSecretRef.name", core("Secret"))
	use("t", "azureFile.secretName", core("Secret"))
	for _, driver := range []string{"cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"} {
		use("t", driver+".secretRef.name", core("Secret"))
	}
	use("r", "glusterfs.endpoints", core("Endpoints"))
	for _, source := range items(volume, "projected.sources") {
		c.uses("r", path+".projected.sources[].configMap.name", core("ConfigMap"), text(source, "configMap.name"))
		c.uses("r", path+".projected.sources[].secret.name", core("Secret"), text(source, "secret.name"))
		c.uses("r", path+".projected.sources[].clusterTrustBundle.name",
			schema.GroupKind{Group: "certificates.k8s.io", Kind: "ClusterTrustBundle"}, text(source, "clusterTrustBundle.name"))
	}
	c.claimTemplate(path+".ephemeral.volumeClaimTemplate", at(volume, "ephemeral.volumeClaimTemplate"))
}

// claimTemplate adds what a claim that is yet to be made will refer to.
func (c *collector) claimTemplate(path string, claim any) {
	c.claim("t", path+".spec", at(claim, "spec"))
}

// claim adds what a PersistentVolumeClaim's spec refers to.
func (c *collector) claim(arc, path string, spec any) {
	c.uses(arc, path+".volumeName", core("PersistentVolume"), text(spec, "volumeName"))
	c.uses(arc, path+".storageClassName", classes, text(spec, "storageClassName"))
	c.uses(arc, path+".volumeAttributesClassName", attributesClasses, text(spec, "volumeAttributesClassName"))
	source := at(spec, "dataSource")
	c.uses(arc, path+".dataSource.name", byAPIGroup(source), text(source, "name"))
	source = at(spec, "dataSourceRef")
	c.usesIn(text(source, "namespace"), arc, path+".dataSourceRef.name", byAPIGroup(source), text(source, "name"))
}
