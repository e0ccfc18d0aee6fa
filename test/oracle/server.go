package oracle

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// server are the kinds by which the API server itself is run.
func (c *collector) server(kind schema.GroupKind) {
	switch kind.Kind {
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		for _, webhook := range items(c.tree, "webhooks") {
			c.object("r", "webhooks[].clientConfig.service", core("Service"), at(webhook, "clientConfig.service"))
		}
	case "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding":
		policy := schema.GroupKind{Group: kind.Group, Kind: strings.TrimSuffix(kind.Kind, "Binding")}
		c.uses("r", "spec.policyName", policy, text(c.tree, "spec.policyName"))
	case "APIService":
		c.object("r", "spec.service", core("Service"), at(c.tree, "spec.service"))
	case "CustomResourceDefinition":
		const service = "spec.conversion.webhook.clientConfig.service"
		c.object("r", service, core("Service"), at(c.tree, service))
	case "Lease":
		if c.namespace == "kube-node-lease" {
			c.uses("r", "metadata.name", core("Node"), text(c.tree, "metadata.name"))
		}
	case "LeaseCandidate":
		c.uses("r", "spec.leaseName", schema.GroupKind{Group: kind.Group, Kind: "Lease"}, text(c.tree, "spec.leaseName"))
	case "FlowSchema":
		const level = "spec.priorityLevelConfiguration.name"
		c.uses("r", level, schema.GroupKind{Group: kind.Group, Kind: "PriorityLevelConfiguration"}, text(c.tree, level))
		for _, rule := range items(c.tree, "spec.rules") {
			for _, subject := range items(rule, "subjects") {
				if account := at(subject, "serviceAccount"); text(account, "name") != "*" {
					c.object("r", "spec.rules[].subjects[].serviceAccount", core("ServiceAccount"), account)
				}
			}
		}
	}
	if kind.Group == "admissionregistration.k8s.io" && strings.HasSuffix(kind.Kind, "WebhookConfiguration") ||
		kind.Kind == "APIService" || kind.Kind == "CustomResourceDefinition" {
		// cert-manager puts its authority's certificate into these.
		for key, to := range map[string]schema.GroupKind{
			"cert-manager.io/inject-ca-from":        {Group: "cert-manager.io", Kind: "Certificate"},
			"cert-manager.io/inject-ca-from-secret": core("Secret"),
		} {
			if namespace, name, ok := strings.Cut(c.annotation(key), "/"); ok {
				c.usesIn(namespace, "r", "metadata.annotations['"+key+"']", to, name)
			}
		}
	}
}

// rights are the kinds of RBAC. A role names what its subjects may use: things in
// a namespace if it is a Role, in none if it is a ClusterRole.
func (c *collector) rights(kind string) {
	group := "rbac.authorization.k8s.io"
	switch kind {
	case "RoleBinding", "ClusterRoleBinding":
		c.binding(group, kind)
	case "Role":
		for _, rule := range items(c.tree, "rules") {
			c.named(rule, map[string]schema.GroupKind{
				"/secrets":                   core("Secret"),
				"/configmaps":                core("ConfigMap"),
				"/services":                  core("Service"),
				"/services/proxy":            core("Service"),
				"/serviceaccounts":           core("ServiceAccount"),
				"/serviceaccounts/token":     core("ServiceAccount"),
				"/pods":                      core("Pod"),
				"/pods/exec":                 core("Pod"),
				"/pods/log":                  core("Pod"),
				"/persistentvolumeclaims":    core("PersistentVolumeClaim"),
				"coordination.k8s.io/leases": {Group: "coordination.k8s.io", Kind: "Lease"},
				"apps/deployments":           {Group: "apps", Kind: "Deployment"},
				"apps/deployments/scale":     {Group: "apps", Kind: "Deployment"},
				"apps/statefulsets":          {Group: "apps", Kind: "StatefulSet"},
				"apps/statefulsets/scale":    {Group: "apps", Kind: "StatefulSet"},
				"apps/daemonsets":            {Group: "apps", Kind: "DaemonSet"},
			})
		}
	case "ClusterRole":
		for _, value := range items(c.tree, "aggregationRule.clusterRoleSelectors") {
			if selector := parseSelector(value); selector != nil {
				c.found = append(c.found, reference{
					arc: "r", field: "aggregationRule.clusterRoleSelectors[]", to: schema.GroupKind{Group: group, Kind: kind}, selector: selector,
				})
			}
		}
		const webhooks = "admissionregistration.k8s.io"
		for _, rule := range items(c.tree, "rules") {
			c.named(rule, map[string]schema.GroupKind{
				"/nodes":                        core("Node"),
				"/nodes/proxy":                  core("Node"),
				"/namespaces":                   core("Namespace"),
				"/persistentvolumes":            core("PersistentVolume"),
				group + "/clusterroles":         {Group: group, Kind: "ClusterRole"},
				"storage.k8s.io/storageclasses": classes,
				webhooks + "/mutatingwebhookconfigurations":      {Group: webhooks, Kind: "MutatingWebhookConfiguration"},
				webhooks + "/validatingwebhookconfigurations":    {Group: webhooks, Kind: "ValidatingWebhookConfiguration"},
				"apiextensions.k8s.io/customresourcedefinitions": {Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
			})
		}
	}
}

// named adds what a rule names, of the resources that are given as group/resource.
func (c *collector) named(rule any, kinds map[string]schema.GroupKind) {
	for resource, to := range kinds {
		group, resource, _ := strings.Cut(resource, "/")
		if !slices.Contains(items(rule, "apiGroups"), any(group)) || !slices.Contains(items(rule, "resources"), any(resource)) {
			continue
		}
		for _, value := range items(rule, "resourceNames") {
			name, _ := value.(string)
			c.uses("t", "rules[].resourceNames[]", to, name)
		}
	}
}

func (c *collector) binding(group, kind string) {
	role := at(c.tree, "roleRef")
	switch to := text(role, "kind"); {
	case to == "ClusterRole", to == "Role" && kind == "RoleBinding":
		c.uses("r", "roleRef", schema.GroupKind{Group: group, Kind: to}, text(role, "name"))
	}
	for _, subject := range items(c.tree, "subjects") {
		if text(subject, "kind") == "ServiceAccount" {
			c.object("r", "subjects[]", core("ServiceAccount"), subject)
		}
	}
}

// certificates are requests for them, made by ServiceAccounts, nodes and pods.
func (c *collector) certificates(kind string) {
	switch kind {
	case "CertificateSigningRequest":
		user := strings.Split(text(c.tree, "spec.username"), ":")
		switch {
		case len(user) == 4 && user[0] == "system" && user[1] == "serviceaccount":
			c.usesIn(user[2], "r", "spec.username", core("ServiceAccount"), user[3])
		case len(user) == 3 && user[0] == "system" && user[1] == "node":
			c.uses("r", "spec.username", core("Node"), user[2])
		}
	case "PodCertificateRequest":
		c.uses("r", "spec.podName", core("Pod"), text(c.tree, "spec.podName"))
		c.uses("r", "spec.serviceAccountName", core("ServiceAccount"), text(c.tree, "spec.serviceAccountName"))
		c.uses("r", "spec.nodeName", core("Node"), text(c.tree, "spec.nodeName"))
	}
}

// devices are the kinds of dynamic resource allocation.
func (c *collector) devices(kind string) {
	switch kind {
	case "ResourceClaim":
		c.deviceRequests("r", "spec")
		for _, consumer := range items(c.tree, "status.reservedFor") {
			to := schema.GroupKind{Group: text(consumer, "apiGroup")}
			switch text(consumer, "resource") {
			case "pods":
				to.Kind = "Pod"
			case "podgroups":
				to.Kind = "PodGroup"
			}
			c.uses("r", "status.reservedFor[]", to, text(consumer, "name"))
		}
	case "ResourceClaimTemplate":
		c.deviceRequests("t", "spec.spec")
	case "ResourceSlice":
		c.uses("r", "spec.nodeName", core("Node"), text(c.tree, "spec.nodeName"))
		for _, device := range items(c.tree, "spec.devices") {
			c.uses("r", "spec.devices[].nodeName", core("Node"), text(device, "nodeName"))
			c.uses("r", "spec.devices[].basic.nodeName", core("Node"), text(device, "basic.nodeName"))
		}
	case "ResourcePoolStatusRequest":
		for _, pool := range items(c.tree, "status.pools") {
			c.uses("r", "status.pools[].nodeName", core("Node"), text(pool, "nodeName"))
		}
	}
}

func (c *collector) deviceRequests(arc, path string) {
	class := schema.GroupKind{Group: "resource.k8s.io", Kind: "DeviceClass"}
	path += ".devices.requests"
	for _, request := range items(c.tree, path) {
		c.uses(arc, path+"[].deviceClassName", class, text(request, "deviceClassName"))
		c.uses(arc, path+"[].exactly.deviceClassName", class, text(request, "exactly.deviceClassName"))
		for _, alternative := range items(request, "firstAvailable") {
			c.uses(arc, path+"[].firstAvailable[].deviceClassName", class, text(alternative, "deviceClassName"))
		}
	}
}
