package wording

import "strings"

// Resource is the resource at one end of a reference. The core group is "".
type Resource struct {
	Group, Resource string
}

// Owner is the word for an owner reference.
const Owner = "is owned by"

// Of returns the word for a reference from a field of a resource to another resource.
func Of(from Resource, field string, to Resource) string {
	for _, r := range bySource[from] {
		if strings.Contains(field, r.part) {
			return r.word
		}
	}
	if strings.HasSuffix(to.Resource, "classes") {
		return "is of class"
	}
	for _, of := range [...][]rule{byTarget[to], byField} {
		for _, r := range of {
			if strings.Contains(field, r.part) {
				return r.word
			}
		}
	}
	if word := targets[to]; word != "" {
		return word
	}
	return "uses"
}

// rule has the word for fields with part in their path; "" is in every path. The first rule that matches
// counts.
type rule struct{ part, word string }

// bySource has the rules by the resource that has the field.
var bySource = map[Resource][]rule{
	{"", "events"}:                                       {{"", "is about"}},
	{"", "services"}:                                     {{"spec.selector", "selects"}, {"spec.externalName", "routes to"}},
	{"", "endpoints"}:                                    {{"targetRef", "leads to"}, {"nodeName", "is on"}, {"metadata.name", "belongs to"}},
	{"discovery.k8s.io", "endpointslices"}:               {{"targetRef", "leads to"}, {"nodeName", "is on"}, {"service-name", "belongs to"}},
	{"", "persistentvolumeclaims"}:                       {{"spec.volumeName", "is bound to"}, {"dataSource", "is filled from"}, {"selected-node", "is on"}},
	{"", "persistentvolumes"}:                            {{"claimRef", "is bound to"}},
	{"", "serviceaccounts"}:                              {{"imagePullSecrets", "pulls images with"}},
	{"", "secrets"}:                                      {{"data.release", "installs"}, {"service-account.name", "is a token of"}},
	{"", "configmaps"}:                                   {{"data.release", "installs"}},
	{"apps", "statefulsets"}:                             {{"spec.serviceName", "is named by"}},
	{"batch", "cronjobs"}:                                {{"status.active", "runs"}},
	{"autoscaling", "horizontalpodautoscalers"}:          {{"scaleTargetRef", "scales"}, {"describedObject", "measures"}},
	{"autoscaling.k8s.io", "verticalpodautoscalers"}:     {{"targetRef", "scales"}},
	{"policy", "poddisruptionbudgets"}:                   {{"", "protects"}},
	{"networking.k8s.io", "networkpolicies"}:             {{"spec.podSelector", "restricts"}, {"", "allows"}},
	{"networking.k8s.io", "ingresses"}:                   {{"ackend", "routes to"}, {"spec.tls", "serves with"}, {"headers", "reads"}, {"auth", "authenticates with"}},
	{"networking.k8s.io", "ipaddresses"}:                 {{"parentRef", "belongs to"}},
	{"rbac.authorization.k8s.io", "rolebindings"}:        {{"roleRef", "grants"}, {"subjects", "binds"}},
	{"rbac.authorization.k8s.io", "clusterrolebindings"}: {{"roleRef", "grants"}, {"subjects", "binds"}},
	{"rbac.authorization.k8s.io", "roles"}:               {{"resourceNames", "permits"}},
	{"rbac.authorization.k8s.io", "clusterroles"}:        {{"resourceNames", "permits"}, {"aggregationRule", "aggregates"}},
	{"storage.k8s.io", "volumeattachments"}:              {{"nodeName", "attaches to"}, {"persistentVolumeName", "attaches"}},
	{"storage.k8s.io", "csinodes"}:                       {{"metadata.name", "is on"}},
	{"gateway.networking.k8s.io", "gateways"}:            {{"certificateRefs", "serves with"}, {"clientCertificateRef", "authenticates with"}},
	{"cert-manager.io", "certificates"}:                  {{"issuerRef", "is issued by"}, {"spec.secretName", "issues"}},
	{"cert-manager.io", "certificaterequests"}:           {{"issuerRef", "is issued by"}},
	{"argoproj.io", "applications"}:                      {{"status.resources", "installs"}, {"spec.project", "is in"}},
	{"argoproj.io", "workflows"}:                         {{"emplateRef", "runs"}},
	{"argoproj.io", "workflowtemplates"}:                 {{"emplateRef", "runs"}},
	{"argoproj.io", "clusterworkflowtemplates"}:          {{"emplateRef", "runs"}},
	{"argoproj.io", "cronworkflows"}:                     {{"emplateRef", "runs"}, {"status.active", "runs"}},
	{"argoproj.io", "workfloweventbindings"}:             {{"emplateRef", "runs"}},
	{"external-secrets.io", "externalsecrets"}:           {{"spec.target", "issues"}, {"status.binding", "issues"}, {"toreRef", "reads from"}},
	{"helm.toolkit.fluxcd.io", "helmreleases"}:           {{"status.inventory", "installs"}, {"dependsOn", "waits for"}, {"sourceRef", "is built from"}, {"chartRef", "is built from"}},
	{"kustomize.toolkit.fluxcd.io", "kustomizations"}:    {{"status.inventory", "installs"}, {"dependsOn", "waits for"}, {"sourceRef", "is built from"}},
}

// byTarget has the rules by the resource of the target, for fields that own does not match.
var byTarget = map[Resource][]rule{
	{"storage.k8s.io", "csidrivers"}: {{"", "is driven by"}},
	{"", "services"}: {
		{"webhook.", "calls"}, {".env[]", "calls"}, {"command[]", "calls"}, {"args[]", "calls"}, {"url", "calls"}, {"Url", "calls"}, {"URL", "calls"}, {"uri", "calls"},
		{"URI", "calls"}, {"ndpoint", "calls"}, {"addr", "calls"}, {"Addr", "calls"}, {"host", "calls"}, {"Host", "calls"}, {"erver", "calls"},
	},
	{"", "secrets"}: {
		{"writeConnectionSecretToRef", "issues"}, {"spec.destination", "issues"}, {"outputSecret", "issues"}, {"targetSecret", "issues"}, {"acme.privateKeySecretRef", "issues"},
		{".env[]", "reads env of"}, {"envFrom[]", "reads env of"}, {"ecretRef", "reads"}, {"azureFile.", "reads"},
	},
	{"", "persistentvolumeclaims"}: {{"source.pvc", "is filled from"}, {"dataSource", "is filled from"}},
}

// byField has the rules for all other fields.
var byField = []rule{
	{"olm.owner", "belongs to"},
	{"imagePullSecret", "pulls images with"},
	{"pullSecret", "pulls images with"},
	{".env[]", "reads env of"},
	{"envFrom[]", "reads env of"},
	{"resourceClaim", "claims"},
	{"volumeClaimTemplate", "claims"},
	{"olumes[].", "mounts"},
	{"projected.sources[]", "mounts"},
	{"scaleTargetRef", "scales"},
	{"parentRefs", "attaches to"},
	{"parentRef", "attaches to"},
	{"ackendRef", "routes to"},
	{"requestMirror", "routes to"},
	{"issuerRef", "is issued by"},
	{"clientConfig.service", "calls"},
	{"webhook.", "calls"},
	{"inventory", "installs"},
	{"dependsOn", "waits for"},
	{"serviceAccountName", "runs as"},
	{"serviceAccountRef", "acts as"},
	{"targetRef", "applies to"},
	{"podGroup", "is scheduled with"},
	{"subdomain", "is named by"},
	{"elector", "selects"},
}

// targets has the words for references that no rule matches, by their target.
var targets = map[Resource]string{
	{"", "nodes"}:                  "runs on",
	{"", "serviceaccounts"}:        "acts as",
	{"", "secrets"}:                "reads",
	{"", "configmaps"}:             "reads",
	{"", "persistentvolumeclaims"}: "mounts",
	{"", "namespaces"}:             "is about",
	{"", "services"}:               "routes to",
}

// Reversed returns a word as read from the target: a ConfigMap "is mounted by" a Pod. It describes the
// objects that refer to an object.
func Reversed(word string) string {
	if r, ok := reversed[word]; ok {
		return r
	}
	return "is used by"
}

// Acts reports whether an object with a word for its reference to another one acts on that: it selects, limits, fills or makes
// the other, and does not just use it.
func Acts(word string) bool { return acting[word] }

var acting = map[string]bool{
	"selects": true, "restricts": true, "allows": true, "protects": true, "scales": true, "binds": true, "issues": true, "installs": true,
	"applies to": true, "attaches": true, "aggregates": true,
}

var reversed = map[string]string{
	Owner: "owns", "is about": "is the subject of", "selects": "is selected by", "routes to": "is reached from", "leads to": "is behind",
	"is on": "has", "belongs to": "has", "is bound to": "is bound to", "is filled from": "fills", "pulls images with": "pulls images for",
	"installs": "is installed by", "is a token of": "has the token", "is named by": "names", "runs": "is run by", "scales": "is scaled by",
	"measures": "is measured by", "protects": "is protected by", "restricts": "is restricted by", "allows": "is allowed by",
	"serves with": "is served by", "authenticates with": "authenticates", "grants": "is granted by", "binds": "is bound by",
	"permits": "is permitted by", "aggregates": "is aggregated by", "attaches to": "has attached", "attaches": "is attached by",
	"is issued by": "issues for", "issues": "is issued by", "is in": "has", "reads from": "is read by", "waits for": "is awaited by",
	"is built from": "builds", "reads env of": "is read as env by", "claims": "is claimed by", "mounts": "is mounted by",
	"calls": "is called by", "runs as": "runs", "acts as": "is used by", "is scheduled with": "schedules", "runs on": "runs",
	"reads": "is read by", "is driven by": "drives", "is of class": "is the class of", "uses": "is used by", "applies to": "is subject to",
}
