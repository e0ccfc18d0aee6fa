package oracle

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var drivers = parseKind("storage.k8s.io/CSIDriver")

// specials find the references of kinds that no row of the table can express.
var specials map[string]func(*collector)

func init() {
	specials = map[string]func(*collector){
		"Pod":                   func(c *collector) { c.containers("spec") },
		"PodTemplate":           func(c *collector) { c.containers("template.spec") },
		"ReplicationController": func(c *collector) { c.containers("spec.template.spec") },
		"apps/Deployment":       func(c *collector) { c.containers("spec.template.spec") },
		"apps/ReplicaSet":       func(c *collector) { c.containers("spec.template.spec") },
		"apps/DaemonSet":        func(c *collector) { c.containers("spec.template.spec") },
		"batch/Job":             func(c *collector) { c.containers("spec.template.spec") },
		"batch/CronJob":         func(c *collector) { c.containers("spec.jobTemplate.spec.template.spec") },
		"apps/StatefulSet":      (*collector).statefulSet,

		"Service":                                       (*collector).service,
		"ResourceQuota":                                 (*collector).quota,
		"PersistentVolume":                              func(c *collector) { c.volumeSource("spec") },
		"storage.k8s.io/VolumeAttachment":               func(c *collector) { c.volumeSource("spec.source.inlineVolumeSpec") },
		"storage.k8s.io/StorageClass":                   (*collector).storageClass,
		"policy/PodDisruptionBudget":                    func(c *collector) { c.selects("spec.selector", parseSelector(at(c.tree, "spec.selector"))) },
		"networking.k8s.io/Ingress":                     (*collector).ingress,
		"networking.k8s.io/NetworkPolicy":               (*collector).networkPolicy,
		"networking.k8s.io/IPAddress":                   (*collector).address,
		rights + "/RoleBinding":                         func(c *collector) { c.binding("RoleBinding") },
		rights + "/ClusterRoleBinding":                  func(c *collector) { c.binding("ClusterRoleBinding") },
		rights + "/Role":                                func(c *collector) { c.named(named) },
		rights + "/ClusterRole":                         (*collector).clusterRole,
		"certificates.k8s.io/CertificateSigningRequest": (*collector).signingRequest,
		"resource.k8s.io/ResourceClaim":                 (*collector).reserved,
		"coordination.k8s.io/Lease":                     (*collector).lease,
		"flowcontrol.apiserver.k8s.io/FlowSchema":       (*collector).flowSchema,

		webhooks + "/MutatingWebhookConfiguration":      (*collector).injected,
		webhooks + "/ValidatingWebhookConfiguration":    (*collector).injected,
		"apiregistration.k8s.io/APIService":             (*collector).injected,
		"apiextensions.k8s.io/CustomResourceDefinition": (*collector).injected,
	}
}

const (
	rights   = "rbac.authorization.k8s.io"
	webhooks = "admissionregistration.k8s.io"
)

// containers adds the Services whose addresses are in variables and arguments of containers.
func (c *collector) containers(path string) {
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, container := range items(c.tree, path+"."+list) {
			field := path + "." + list + "[]."
			for _, variable := range items(container, "env") {
				value := text(variable, "value")
				c.calls("t", field+"env[].value", value, false)
				if hostKey.MatchString(text(variable, "name")) && objectName.MatchString(value) && !strings.Contains(value, ".") && !isNumber(value) {
					c.calls("t", field+"env[].value", "tcp://"+value, false)
				}
			}
			for _, words := range []string{"command", "args"} {
				for _, word := range items(container, words) {
					said, _ := word.(string)
					c.calls("t", field+words+"[]", said, false)
				}
			}
		}
	}
}

// statefulSet adds the claims of a StatefulSet, whose names end in numbers.
func (c *collector) statefulSet() {
	c.containers("spec.template.spec")
	for _, claim := range items(c.tree, "spec.volumeClaimTemplates") {
		if name := text(claim, "metadata.name"); name != "" {
			c.uses("r", "spec.volumeClaimTemplates[].metadata.name", core("PersistentVolumeClaim"), name+"-"+text(c.tree, "metadata.name"))
			c.found[len(c.found)-1].numbered = true
		}
	}
}

// service adds the selected pods of a Service, or the Service of an external name: <service>.<namespace>.svc,
// perhaps with a domain behind it.
func (c *collector) service() {
	if pairs, ok := at(c.tree, "spec.selector").(map[string]any); ok && len(pairs) > 0 {
		selector := labels.Set{}
		for key, value := range pairs {
			selector[key], _ = value.(string)
		}
		c.selects("spec.selector", selector.AsSelectorPreValidated())
	}
	parts := strings.SplitN(text(c.tree, "spec.externalName"), ".", 4)
	if text(c.tree, "spec.type") == "ExternalName" && len(parts) > 2 && parts[2] == "svc" && parts[0] != "" && parts[1] != "" {
		c.usesIn(parts[1], "r", "spec.externalName", core("Service"), parts[0])
	}
}

func (c *collector) annotation(key string) string {
	pairs, _ := at(c.tree, "metadata.annotations").(map[string]any)
	value, _ := pairs[key].(string)
	return value
}

// quota adds the priority classes of a ResourceQuota.
func (c *collector) quota() {
	for _, expression := range items(c.tree, "spec.scopeSelector.matchExpressions") {
		if text(expression, "scopeName") != "PriorityClass" || text(expression, "operator") != "In" {
			continue
		}
		for _, value := range items(expression, "values") {
			class, _ := value.(string)
			c.uses("r", "spec.scopeSelector.matchExpressions[].values[]", parseKind("scheduling.k8s.io/PriorityClass"), class)
		}
	}
}

// volumeSource adds the references of a PersistentVolume's source, in the namespace of the source or else
// of the claim.
func (c *collector) volumeSource(path string) {
	spec := at(c.tree, path)
	claim := text(spec, "claimRef.namespace")
	if phase := text(c.tree, "status.phase"); path == "spec" && phase != "Released" && phase != "Failed" { // otherwise its claim is gone
		c.object("r", path+".claimRef", core("PersistentVolumeClaim"), at(spec, "claimRef"))
	}
	c.usesIn(cmp.Or(text(spec, "azureFile.secretNamespace"), claim), "t", path+".azureFile.secretName", core("Secret"), text(spec, "azureFile.secretName"))
	c.usesIn(cmp.Or(text(spec, "glusterfs.endpointsNamespace"), claim), "r", path+".glusterfs.endpoints", core("Endpoints"), text(spec, "glusterfs.endpoints"))
}

// storageClass adds the Secrets in a StorageClass' parameters, which may have templates of their names.
func (c *collector) storageClass() {
	parameters, _ := c.tree["parameters"].(map[string]any)
	for _, use := range []string{"provisioner", "controller-publish", "controller-expand", "node-stage", "node-publish", "node-expand"} {
		key := "csi.storage.k8s.io/" + use + "-secret-name"
		name, _ := parameters[key].(string)
		namespace, _ := parameters["csi.storage.k8s.io/"+use+"-secret-namespace"].(string)
		if !strings.Contains(name+namespace, "$") {
			c.usesIn(namespace, "t", "parameters['"+key+"']", core("Secret"), name)
		}
	}
}

// injected adds the sources of cert-manager's annotations for injected authorities.
func (c *collector) injected() {
	for key, to := range map[string]string{"cert-manager.io/inject-ca-from": "cert-manager.io/Certificate", "cert-manager.io/inject-ca-from-secret": "Secret"} {
		if namespace, name, ok := strings.Cut(c.annotation(key), "/"); ok {
			c.usesIn(namespace, "r", "metadata.annotations['"+key+"']", parseKind(to), name)
		}
	}
}

// lease adds the Node of a Lease in the namespace of node leases.
func (c *collector) lease() {
	if c.namespace == "kube-node-lease" {
		c.uses("r", "metadata.name", core("Node"), text(c.tree, "metadata.name"))
	}
}

func (c *collector) flowSchema() {
	for _, rule := range items(c.tree, "spec.rules") {
		for _, subject := range items(rule, "subjects") {
			if account := at(subject, "serviceAccount"); text(account, "name") != "*" {
				c.object("r", "spec.rules[].subjects[].serviceAccount", core("ServiceAccount"), account)
			}
		}
	}
}

// named are the resources that the rules of a Role name, clusterNamed those of a ClusterRole: things
// in a namespace, and in none.
var (
	named = map[string]string{
		"/secrets": "Secret", "/configmaps": "ConfigMap", "/services": "Service", "/services/proxy": "Service",
		"/serviceaccounts": "ServiceAccount", "/serviceaccounts/token": "ServiceAccount",
		"/pods": "Pod", "/pods/exec": "Pod", "/pods/log": "Pod", "/persistentvolumeclaims": "PersistentVolumeClaim",
		"coordination.k8s.io/leases": "coordination.k8s.io/Lease",
		"apps/deployments":           "apps/Deployment", "apps/deployments/scale": "apps/Deployment",
		"apps/statefulsets": "apps/StatefulSet", "apps/statefulsets/scale": "apps/StatefulSet", "apps/daemonsets": "apps/DaemonSet",
	}
	clusterNamed = map[string]string{
		"/nodes": "Node", "/nodes/proxy": "Node", "/namespaces": "Namespace", "/persistentvolumes": "PersistentVolume",
		rights + "/clusterroles":                         rights + "/ClusterRole",
		"storage.k8s.io/storageclasses":                  "storage.k8s.io/StorageClass",
		webhooks + "/mutatingwebhookconfigurations":      webhooks + "/MutatingWebhookConfiguration",
		webhooks + "/validatingwebhookconfigurations":    webhooks + "/ValidatingWebhookConfiguration",
		"apiextensions.k8s.io/customresourcedefinitions": "apiextensions.k8s.io/CustomResourceDefinition",
	}
)

func (c *collector) named(kinds map[string]string) {
	for resource, to := range kinds {
		group, resource, _ := strings.Cut(resource, "/")
		for _, rule := range items(c.tree, "rules") {
			if !slices.Contains(items(rule, "apiGroups"), any(group)) || !slices.Contains(items(rule, "resources"), any(resource)) {
				continue
			}
			for _, value := range items(rule, "resourceNames") {
				name, _ := value.(string)
				c.uses("t", "rules[].resourceNames[]", parseKind(to), name)
			}
		}
	}
}

func (c *collector) clusterRole() {
	c.named(clusterNamed)
	for _, value := range items(c.tree, "aggregationRule.clusterRoleSelectors") {
		if selector := parseSelector(value); selector != nil {
			c.found = append(c.found, reference{
				arc: "r", field: "aggregationRule.clusterRoleSelectors[]", to: parseKind(rights + "/ClusterRole"), selector: selector,
			})
		}
	}
}

func (c *collector) binding(kind string) {
	role := at(c.tree, "roleRef")
	if to := text(role, "kind"); to == "ClusterRole" || to == "Role" && kind == "RoleBinding" {
		c.uses("r", "roleRef", schema.GroupKind{Group: rights, Kind: to}, text(role, "name"))
	}
	for _, subject := range items(c.tree, "subjects") {
		if text(subject, "kind") == "ServiceAccount" {
			c.object("r", "subjects[]", core("ServiceAccount"), subject)
		}
	}
}

// signingRequest adds the ServiceAccount or the Node that created a CertificateSigningRequest.
func (c *collector) signingRequest() {
	user := strings.Split(text(c.tree, "spec.username"), ":")
	switch {
	case len(user) == 4 && user[0] == "system" && user[1] == "serviceaccount":
		c.usesIn(user[2], "r", "spec.username", core("ServiceAccount"), user[3])
	case len(user) == 3 && user[0] == "system" && user[1] == "node":
		c.uses("r", "spec.username", core("Node"), user[2])
	}
}

// reserved adds the consumers of a ResourceClaim.
func (c *collector) reserved() {
	for _, consumer := range items(c.tree, "status.reservedFor") {
		kind := map[string]string{"pods": "Pod", "podgroups": "PodGroup"}[text(consumer, "resource")]
		c.uses("r", "status.reservedFor[]", schema.GroupKind{Group: text(consumer, "apiGroup"), Kind: kind}, text(consumer, "name"))
	}
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}
