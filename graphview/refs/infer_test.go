package refs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
)

// servedBy returns a cluster that serves kinds, written group/Kind. A star marks
// cluster-scoped kinds.
func servedBy(kinds ...string) *Served {
	served := map[graph.Kind]graph.Scope{}
	for _, text := range kinds {
		text, cluster := strings.CutSuffix(text, "*")
		group, kind, _ := strings.Cut(text, "/")
		scope := graph.ScopeNamespaced
		if cluster {
			scope = graph.ScopeCluster
		}
		served[graph.Kind{Group: parseGroup(group), Kind: kind}] = scope
	}
	return NewServed(served)
}

// TestInferred infers what the kinds of one project are to each other, and to
// Kubernetes' own, by keys alone.
func TestInferred(t *testing.T) {
	for name, test := range map[string]struct {
		served []string
		object string
		want   string
	}{
		"KindOfAnotherGroupOfTheDomain": {
			served: []string{"elasticsearch.k8s.elastic.co/Elasticsearch", "kibana.k8s.elastic.co/Kibana", "beat.k8s.elastic.co/Beat"},
			object: `{apiVersion: beat.k8s.elastic.co/v1, kind: Beat, metadata: {name: b, namespace: own}, spec: {kibanaRef: {name: kb}, elasticsearchRef: {name: es, namespace: data}}}`,
			want: `
				r elasticsearch.k8s.elastic.co/Elasticsearch data/es spec.elasticsearchRef
				r kibana.k8s.elastic.co/Kibana own/kb spec.kibanaRef`,
		},
		"CaseIsNoDifference": {
			served: []string{"k8s.mariadb.com/MariaDB", "k8s.mariadb.com/User"},
			object: `{apiVersion: k8s.mariadb.com/v1, kind: User, metadata: {name: u, namespace: own}, spec: {mariaDbRef: {name: db}}}`,
			want:   `r k8s.mariadb.com/MariaDB own/db spec.mariaDbRef`,
		},
		"EndOfAKind": {
			served: []string{"compute.example.com/ComputeNetwork", "compute.example.com/ComputeURLMap", "compute.example.com/ComputeProxy"},
			object: `{apiVersion: compute.example.com/v1, kind: ComputeProxy, metadata: {name: p, namespace: own}, spec: {networkRef: {name: net}, urlMapRef: {name: m}}}`,
			want: `
				r compute.example.com/ComputeNetwork own/net spec.networkRef
				r compute.example.com/ComputeURLMap own/m spec.urlMapRef`,
		},
		"ServedKindIsNoInference": {
			served: []string{"example.com/Cluster", "example.com/Database"},
			object: `{apiVersion: example.com/v1, kind: Database, metadata: {name: d, namespace: own}, spec: {clusterRef: {name: c}}}`,
			want:   `r example.com/Cluster own?/c spec.clusterRef`,
		},
		"Texts": {
			served: []string{"secrets.example.com/VaultAuth", "secrets.example.com/VaultStaticSecret", "secrets.example.com/VaultConnection*"},
			object: `{apiVersion: secrets.example.com/v1, kind: VaultStaticSecret, metadata: {name: s, namespace: own}, spec: {vaultAuthRef: other/a, vaultConnection: c, parameters: {writeConnectionSecretToRef: {name: conn}}, caSecret: ca, serverTLSSecret: tls, storageClass: fast, service: web, credentialsName: creds, path: kv/x}}`,
			want: `
				r core/Secret own/creds inferred/spec.credentialsName
				r core/Service own/web inferred/spec.service
				r core/Secret own/ca spec.caSecret
				r core/Secret own/conn spec.parameters.writeConnectionSecretToRef
				r core/Secret own/tls spec.serverTLSSecret
				r storage.k8s.io/StorageClass -/fast spec.storageClass
				r secrets.example.com/VaultAuth other/a spec.vaultAuthRef
				r secrets.example.com/VaultConnection -/c spec.vaultConnection`,
		},
		"ListsOfTextsAndObjects": {
			served: []string{"traefik.io/Middleware", "traefik.io/IngressRoute", "traefik.io/ServersTransport", "traefik.io/Policy"},
			object: `{apiVersion: traefik.io/v1, kind: IngressRoute, metadata: {name: i, namespace: own}, spec: {secrets: [a, b], routes: [{middlewares: [{name: m, namespace: edge}], services: [{name: web, port: 80, serversTransport: st}]}], policies: [{name: p}]}}`,
			want: `
				r traefik.io/Policy own/p inferred/spec.policies[]
				r traefik.io/Middleware edge/m inferred/spec.routes[].middlewares[]
				r core/Service own/web inferred/spec.routes[].services[]
				r traefik.io/ServersTransport own/st spec.routes[].services[].serversTransport
				r core/Secret own/a spec.secrets[]
				r core/Secret own/b spec.secrets[]`,
		},
		"KindWithoutAGroup": {
			served: []string{"cluster.example.com/Cluster", "infra.example.com/Machine"},
			object: `{apiVersion: cluster.example.com/v1, kind: Cluster, metadata: {name: c, namespace: own}, spec: {infrastructure: {kind: Machine, name: m}}}`,
			want:   `r infra.example.com/Machine own/m inferred/spec.infrastructure`,
		},
		"GroupThatIsNotServed": {
			served: []string{"example.com/Widget"},
			object: `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {serviceRef: {apiVersion: serving.knative.dev/v1, kind: Service, name: web}}}`,
			want:   `r serving.knative.dev/Service own?/web spec.serviceRef`,
		},
		"Reference": {
			served: []string{"rabbitmq.com/RabbitmqCluster", "rabbitmq.com/Queue"},
			object: `{apiVersion: rabbitmq.com/v1, kind: Queue, metadata: {name: q, namespace: own}, spec: {rabbitmqClusterReference: {name: r}}}`,
			want:   `r rabbitmq.com/RabbitmqCluster own?/r spec.rabbitmqClusterReference`,
		},
		"WordThatBeginsAsRef": {
			served: []string{"example.com/Refund", "example.com/Order"},
			object: `{apiVersion: example.com/v1, kind: Order, metadata: {name: o, namespace: own}, spec: {refund: partial, lastRefundRef: r}}`,
			want: `
				r example.com/Refund own/r inferred/spec.lastRefundRef
				r example.com/Refund own/partial inferred/spec.refund`,
		},
		"Selectors": {
			served: []string{"grafana.example.com/Instance", "grafana.example.com/Dashboard"},
			object: `{apiVersion: grafana.example.com/v1, kind: Dashboard, metadata: {name: d, namespace: own}, spec: {instanceSelector: {matchLabels: {app: g}}, podSelector: {}, serviceSelector: {matchLabels: {a: b}}}}`,
			want: `
				r grafana.example.com/Instance own/{app=g} spec.instanceSelector
				r core/Service own/{a=b} spec.serviceSelector`,
		},
		"Addresses": {
			served: []string{"example.com/Probe"},
			object: `{apiVersion: example.com/v1, kind: Probe, metadata: {name: p, namespace: own}, spec: {url: "http://prometheus.monitoring.svc:9090/x", endpoint: "redis:6379", server-urls: "http://es.logs.svc:9200", host: "https://github.com/x", address: nowhere, hosts: [shown], uri: "http://localhost:80", issuer: "https://login.iam.svc/realm", target: "http://db.shop", noProxy: "localhost,cache.shop.svc"}}`,
			want: `
				t core/Service own/nowhere inferred/spec.address
				t core/Service shop/db inferred/spec.target
				t core/Service own/localhost inferred/spec.uri
				t core/Service own/redis spec.endpoint
				t core/Service iam/login spec.issuer
				t core/Service logs/es spec.server-urls
				t core/Service monitoring/prometheus spec.url`,
		},
		"ConfigConnector": {
			served: []string{"iam.cnrm.cloud.google.com/IAMServiceAccount", "compute.cnrm.cloud.google.com/ComputeInstance"},
			object: `{apiVersion: compute.cnrm.cloud.google.com/v1, kind: ComputeInstance, metadata: {name: i, namespace: own}, spec: {serviceAccount: {serviceAccountRef: {name: sa}}, password: {valueFrom: {secretKeyRef: {name: s, key: k}}}}}`,
			want: `
				r core/Secret own/s spec.password.valueFrom.secretKeyRef
				r iam.cnrm.cloud.google.com/IAMServiceAccount own/sa spec.serviceAccount.serviceAccountRef`,
		},
		"PlaceholdersAndItself": {
			served: []string{"example.com/Thing"},
			object: `{apiVersion: example.com/v1, kind: Thing, metadata: {name: me, namespace: own}, spec: {secretName: "<your-secret>", secretRef: {name: secret_of_mine}, thing: me, secret: UPPER}}`,
		},
		"KeysThatHoldContentsElsewhere": {
			served: []string{"dapr.io/Component"},
			object: `{apiVersion: dapr.io/v1, kind: Component, metadata: {name: c, namespace: own}, spec: {metadata: [{name: host, secretKeyRef: {name: s, key: k}}], data: {source: {tokenSecret: {name: t, key: k}}}}}`,
			want: `
				r core/Secret own/t spec.data.source.tokenSecret
				r core/Secret own/s spec.metadata[].secretKeyRef`,
		},
		"WhatIsKeyed": {
			object: `{apiVersion: example.com/v1, kind: Trigger, metadata: {name: t, namespace: own}, spec: {source: {configmap: {name: c, key: k}, s3: {bucket: {name: b, key: k}}, gatewaysFromIPPool: [{name: p, key: k}], auth: {name: s, key: k}}}}`,
			want: `
				r core/Secret own/s spec.source.auth
				r core/ConfigMap own/c spec.source.configmap`,
		},
		"NearestOfSeveral": {
			served: []string{"logging.example.com/Output", "logging.example.com/ClusterOutput*", "logging.example.com/Flow", "logging.example.com/TraefikService"},
			object: `{apiVersion: logging.example.com/v1, kind: Flow, metadata: {name: f, namespace: own}, spec: {outputs: [o], services: [{name: web}]}}`,
			want: `
				r logging.example.com/ClusterOutput -/o inferred/spec.outputs[]
				r logging.example.com/Output own/o inferred/spec.outputs[]
				r core/Service own/web inferred/spec.services[]
				r logging.example.com/TraefikService own/web inferred/spec.services[]`,
		},
		"EndOfAKeyAndInitials": {
			served: []string{"app.example.com/EnterpriseRemoteCluster", "app.example.com/VirtualMachine", "app.example.com/DatabaseBackup", "app.example.com/Job"},
			object: `{apiVersion: app.example.com/v1, kind: Job, metadata: {name: j, namespace: own}, spec: {participatingClusters: [{name: a}], vmName: v, databaseBackupResourceName: b}}`,
			want: `
				r app.example.com/EnterpriseRemoteCluster own/a inferred/spec.participatingClusters[]
				r app.example.com/VirtualMachine own/v inferred/spec.vmName
				r app.example.com/DatabaseBackup own/b spec.databaseBackupResourceName`,
		},
		"CertainWithoutATarget": {
			served: []string{"net.example.com/SubnetSet", "net.example.com/Port", "net.example.com/Database"},
			object: `{apiVersion: net.example.com/v1, kind: Port, metadata: {name: p, namespace: own}, spec: {serviceAccount: {name: sa}, subnetSetName: s, databaseName: d, clientSecret: literal, subnetRef: x}}`,
			want: `
				r core/Secret own/literal inferred/spec.clientSecret
				r net.example.com/Database own/d inferred/spec.databaseName
				r core/ConfigMap own/x inferred/spec.subnetRef
				r core/Secret own/x inferred/spec.subnetRef
				r net.example.com/Database own/x inferred/spec.subnetRef
				r net.example.com/Port own/x inferred/spec.subnetRef
				r net.example.com/SubnetSet own/x inferred/spec.subnetRef
				r core/ServiceAccount own/sa spec.serviceAccount
				r net.example.com/SubnetSet own/s spec.subnetSetName`,
		},
		"CertainKindsOfKubernetes": {
			served: []string{"example.com/Widget"},
			object: `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {ociConfigMap: c, secretsName: s, client: {secret: literal}, pdbconfigmap: d, pvc: p, caCertRefs: [{name: ca}]}}`,
			want: `
				r core/Secret own/literal inferred/spec.client.secret
				r core/Secret own/ca spec.caCertRefs[]
				r core/ConfigMap own/c spec.ociConfigMap
				r core/ConfigMap own/d spec.pdbconfigmap
				r core/PersistentVolumeClaim own/p spec.pvc
				r core/Secret own/s spec.secretsName`,
		},
		"FirstWordOfTheProject": {
			served: []string{"core.example.com/CoreCluster", "core.example.com/CoreExternalCluster", "core.example.com/CoreApp", "core.example.com/CoreDomain", "core.example.com/CoreDepot"},
			object: `{apiVersion: core.example.com/v1, kind: CoreDepot, metadata: {name: d, namespace: own}, spec: {managedClusterName: c, appRef: {name: a}, domainRef: {name: b}, targetRef: {group: core.example.com/v1, kind: CoreApp, name: t}}}`,
			want: `
				r core.example.com/CoreApp own/a spec.appRef
				r core.example.com/CoreDomain own/b spec.domainRef
				r core.example.com/CoreCluster own/c spec.managedClusterName
				r core.example.com/CoreApp own?/t spec.targetRef`,
		},
		"NameOfItsOwnElsewhere": {
			served: []string{"example.com/Bucket", "example.com/Folder"},
			object: `{apiVersion: example.com/v1, kind: Bucket, metadata: {name: b, namespace: own}, spec: {bucketName: other, sourceBucketName: from, folder: f}}`,
			want: `
				r example.com/Folder own/f inferred/spec.folder
				r example.com/Bucket own/from inferred/spec.sourceBucketName`,
		},
		"PartsOfTheObject": {
			served: []string{"example.com/Workload", "example.com/App"},
			object: `{apiVersion: example.com/v1, kind: App, metadata: {name: a, namespace: own}, spec: {workloads: [{name: w, version: "1"}, {name: r, replicas: 2}, {name: x}]}}`,
			want:   `r example.com/Workload own/x inferred/spec.workloads[]`,
		},
		"LaterCandidates": {
			served: []string{"logging.example.com/Output", "logging.example.com/ClusterOutput*", "logging.example.com/SyslogNGOutput", "logging.example.com/Flow", "logging.example.com/Group", "logging.example.com/ComputeDisk"},
			object: `{apiVersion: logging.example.com/v1, kind: Flow, metadata: {name: f, namespace: own}, spec: {globalOutputRefs: [o], outputRef: {name: p}, groupRef: {name: g}, group: g, sourceDiskRef: {name: d}}}`,
			want: `
				r logging.example.com/ClusterOutput -/o inferred/spec.globalOutputRefs[]
				r logging.example.com/Output own/o inferred/spec.globalOutputRefs[]
				r logging.example.com/SyslogNGOutput own/o inferred/spec.globalOutputRefs[]
				r logging.example.com/ClusterOutput -/p inferred/spec.outputRef
				r logging.example.com/Output own/p inferred/spec.outputRef
				r logging.example.com/SyslogNGOutput own/p inferred/spec.outputRef
				r logging.example.com/Group own?/g spec.groupRef
				r logging.example.com/ComputeDisk own/d spec.sourceDiskRef`,
		},
		"KeysThatTheirParentsExplain": {
			served: []string{"ec2.services.k8s.aws/VPC", "ec2.services.k8s.aws/Subnet", "ec2.services.k8s.aws/Service"},
			object: `{apiVersion: ec2.services.k8s.aws/v1, kind: Subnet, metadata: {name: s, namespace: own}, spec: {vpcRef: {from: {name: v}}, serviceName: com.amazonaws.s3, userSecrets: {root: x}, services: {type: web}}}`,
			want: `
				r ec2.services.k8s.aws/Service own/com.amazonaws.s3 inferred/spec.serviceName
				r ec2.services.k8s.aws/VPC own/v spec.vpcRef.from`,
		},
		"MapsOfNamesAndClasses": {
			served: []string{"example.com/Widget"},
			object: `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {userSecrets: {root: x}, services: {type: web}, priorityClassNames: {low: p}, ingress: {className: nginx}, serviceaccount: sa}}`,
			want: `
				r networking.k8s.io/IngressClass -/nginx inferred/spec.ingress.className
				r scheduling.k8s.io/PriorityClass -/p inferred/spec.priorityClassNames.low
				r core/Secret own/x inferred/spec.userSecrets.root
				r core/ServiceAccount own/sa spec.serviceaccount`,
		},
		"KindsOfOtherPublishers": {
			served: []string{"gateway.example.com/WAFPolicy", "gateway.example.com/Storage", "appprotect.other.org/APPolicy", "cassandra.third.net/CassandraDatacenter", "gateway.networking.k8s.io/GatewayClass*"},
			object: `{apiVersion: gateway.example.com/v1, kind: WAFPolicy, metadata: {name: w, namespace: own}, spec: {apPolicyRef: {name: p}, datacenter: {name: dc}, gatewayClassName: nginx, storageClusterRef: {name: st},
  authTokenRef: {name: token}, targetRefs: [{group: core, kind: Service, name: web}]}}`,
			want: `
				r gateway.networking.k8s.io/GatewayClass -/nginx inferred/spec.gatewayClassName
				r appprotect.other.org/APPolicy own/p spec.apPolicyRef
				r core/Secret own/token spec.authTokenRef
				r cassandra.third.net/CassandraDatacenter own/dc spec.datacenter
				r gateway.example.com/Storage own/st spec.storageClusterRef
				r core/Service own?/web spec.targetRefs[]`,
		},
		"WordsAroundAKind": {
			served: []string{"net.example.com/ProviderNetwork", "net.example.com/AppServiceInstance", "net.example.com/Rule"},
			object: `{apiVersion: net.example.com/v1, kind: Rule, metadata: {name: r, namespace: own}, spec: {provider: p, oldProviderName: q, serviceInstance: i, appService: a, net: n, mode: provider}}`,
			want: `
				r core/Service own/a inferred/spec.appService
				r net.example.com/ProviderNetwork own/q inferred/spec.oldProviderName
				r net.example.com/ProviderNetwork own/p inferred/spec.provider
				r net.example.com/AppServiceInstance own/i inferred/spec.serviceInstance`,
		},
		"RelationsOfASmallGroup": {
			served: []string{"flags.example.com/Flag", "flags.example.com/Source", "flags.example.com/Daemon"},
			object: `{apiVersion: flags.example.com/v1, kind: Daemon, metadata: {name: d, namespace: own}, spec: {target: f, upstreamRef: {name: u}, dependsOn: [d, e], parent: {kind: Deployment, name: p}, builder: {kind: Flag, name: b}, newFlag: {name: m}, sources: [{name: x, path: y}]}}`,
			want: `
				r flags.example.com/Flag own/d inferred/spec.dependsOn[]
				r flags.example.com/Source own/d inferred/spec.dependsOn[]
				r flags.example.com/Daemon own/e inferred/spec.dependsOn[]
				r flags.example.com/Flag own/e inferred/spec.dependsOn[]
				r flags.example.com/Source own/e inferred/spec.dependsOn[]
				r apps/Deployment own/p inferred/spec.parent
				r flags.example.com/Source own/x inferred/spec.sources[]
				r flags.example.com/Daemon own/f inferred/spec.target
				r flags.example.com/Flag own/f inferred/spec.target
				r flags.example.com/Source own/f inferred/spec.target
				r core/ConfigMap own/u inferred/spec.upstreamRef
				r core/Secret own/u inferred/spec.upstreamRef
				r flags.example.com/Daemon own/u inferred/spec.upstreamRef
				r flags.example.com/Flag own/u inferred/spec.upstreamRef
				r flags.example.com/Source own/u inferred/spec.upstreamRef
				r flags.example.com/Flag own/b spec.builder`,
		},
		"RelationsAfterOtherWords": {
			served: []string{"db.example.com/ControlPlane", "db.example.com/PostgresServer", "db.example.com/SparePool", "db.example.com/SpareTask"},
			object: `{apiVersion: db.example.com/v1, kind: ControlPlane, metadata: {name: c, namespace: own}, spec: {databaseInstance: d, cellDatabaseInstanceName: d, databaseSource: d, spareInstance: s, postgresInstance: p, oldPostgresSource: q, instanceName: i, appGUID: a}}`,
			want: `
				r db.example.com/ControlPlane own/a inferred/spec.appGUID
				r db.example.com/PostgresServer own/a inferred/spec.appGUID
				r db.example.com/SparePool own/a inferred/spec.appGUID
				r db.example.com/SpareTask own/a inferred/spec.appGUID
				r db.example.com/ControlPlane own/i inferred/spec.instanceName
				r db.example.com/PostgresServer own/i inferred/spec.instanceName
				r db.example.com/SparePool own/i inferred/spec.instanceName
				r db.example.com/SpareTask own/i inferred/spec.instanceName
				r db.example.com/PostgresServer own/q inferred/spec.oldPostgresSource
				r db.example.com/PostgresServer own/p inferred/spec.postgresInstance`,
		},
		"ConfigurationAndSecrets": {
			served: []string{"example.com/Widget"},
			object: `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {logConfigFile: {name: c, path: /x}, tlsCert: t, sshKey: {name: k}, settings: s, tlsRefName: q, configMode: a, serviceAccountKeyRef: {name: g, key: k}}}`,
			want: `
				r core/ConfigMap own/s inferred/spec.settings
				r core/Secret own/s inferred/spec.settings
				r core/Secret own/k inferred/spec.sshKey
				r core/Secret own/t inferred/spec.tlsCert
				r core/Secret own/g spec.serviceAccountKeyRef
				r core/Secret own/q spec.tlsRefName`,
		},
		"NamespaceBesideAName": {
			served: []string{"example.com/Widget*", "example.com/Gadget"},
			object: `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {caSecretName: a, caSecretNamespace: x, gadget: g, gadgetNamespace: u, tokenSecret: lost, target: {namespace: z, secretName: b, url: "http://web:80"}}}`,
			want: `
				r example.com/Gadget u/g inferred/spec.gadget
				r core/Secret z/b inferred/spec.target.secretName
				t core/Service z/web inferred/spec.target.url
				r core/Secret example/lost inferred/spec.tokenSecret
				r core/Secret example-system/lost inferred/spec.tokenSecret
				r core/Secret x/a spec.caSecretName`,
		},
		"ServicesAndHosts": {
			served: []string{"example.com/Widget"},
			object: `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {service: {name: web, port: 80}, rules: [{service: {name: api, port: 80, namespace: other}}], host-name: db, url: "http://web.web-system:80", uri: "http://a.own/x", endpoint: "zk-client.zk:2181", server: "db.corp:5432", addresses: ["kafka-0.kafka-all:9092"], broker: "mq:5672", image: "mq:5672"}}`,
			want: `
				t core/Service kafka-all/kafka-0 inferred/spec.addresses[]
				t core/Service own/kafka-all inferred/spec.addresses[]
				t core/Service own/mq inferred/spec.broker
				t core/Service own/db inferred/spec.host-name
				t core/Service corp/db inferred/spec.server
				t core/Service zk/zk-client spec.endpoint
				r core/Service other/api spec.rules[].service
				r core/Service own/web spec.service
				t core/Service own/a spec.uri
				t core/Service web-system/web spec.url`,
		},
		"External": {
			served: []string{"example.com/Cluster", "example.com/Widget"},
			object: `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {externalClusters: [{name: a}], externalSecretName: s, sourceCluster: b, externalClusterName: c, externalCluster: {name: d}}}`,
			want: `
				r example.com/Cluster own/d inferred/spec.externalCluster
				r example.com/Cluster own/c inferred/spec.externalClusterName
				r example.com/Cluster own/b inferred/spec.sourceCluster
				r core/Secret own/s spec.externalSecretName`,
		},
		"OwnKindsBeforeSecrets": {
			served: []string{"bmc.example.com/BMCSecret", "bmc.example.com/HubCredential", "bmc.example.com/Check", "bmc.example.com/Widget"},
			object: `{apiVersion: bmc.example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {bmcSecretRef: {name: a}, bmcSecretName: b, caSecretRef: {name: c}, credentialsRef: {name: d}, checkSelector: {name: e}}}`,
			want: `
				r core/Secret own/d inferred/spec.credentialsRef
				r bmc.example.com/HubCredential own/d inferred/spec.credentialsRef
				r bmc.example.com/BMCSecret own/b spec.bmcSecretName
				r bmc.example.com/BMCSecret own/a spec.bmcSecretRef
				r core/Secret own/c spec.caSecretRef
				r bmc.example.com/Check own/e spec.checkSelector`,
		},
		"NamespaceAndName": {
			object: `{apiVersion: example.com/v1, kind: Proxy, metadata: {name: c, namespace: own}, spec: {tls: {secretName: www/cert}}}`,
			want:   `r core/Secret www/cert spec.tls.secretName`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			kind, object := decode(t, []byte(test.object))
			got := render(Builtin().Serving(servedBy(test.served...)).Extract(kind, object))
			if diff := cmp.Diff(lines(test.want), got); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"redis-cart:6379":                                "/redis-cart",
		"http://web":                                     "/web",
		"http://web.shop:80/path?x=y":                    "shop/web",
		"web.shop.svc":                                   "shop/web",
		"web.shop.svc.cluster.local:443":                 "shop/web",
		"kafka-0.kafka.data.svc:9092,kafka-1.kafka:9092": "data/kafka kafka/kafka-1 /kafka",
		"postgres://user:pass@db:5432/app":               "/db",
		"redis":                                          "",
		"--sink=influxdb:http://influx.mon:8086":         "mon/influx",
		"web.shop.svc.cluster.local.:80":                 "shop/web",
		"curl -s http://web:80/x":                        "/web",
		"kafka-0.kafka:9092":                             "kafka/kafka-0 /kafka",
		"exec curl -s -S -X POST -d x -o /dev/null http://web:80": "/web",
		"a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1":                     "/a /b /c /d /e /f /g /h",
		"10.0.0.1:80":                                             "",
		"docker.io/library/nginx:1.27":                            "",
		"https://github.com/a/b":                                  "",
		"a.b.c.d.e:80":                                            "",
		"web:http":                                                "",
		"":                                                        "",
		"Upper:80":                                                "",
	} {
		var got []string
		for a := range addresses(text) {
			got = append(got, a.namespace+"/"+a.service)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("addresses(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestDomainOf(t *testing.T) {
	for group, want := range map[string]string{
		"":                           "",
		"apps":                       "apps",
		"example.com":                "example.com",
		"beat.k8s.elastic.co":        "elastic.co",
		"iam.cnrm.cloud.google.com":  "cloud.google.com",
		"cluster.x-k8s.io":           "cluster.x-k8s.io",
		"bootstrap.cluster.x-k8s.io": "cluster.x-k8s.io",
		"gateway.networking.k8s.io":  "networking.k8s.io",
	} {
		if got := DomainOf(group); got != want {
			t.Errorf("DomainOf(%s) = %s, want %s", group, got, want)
		}
	}
}

func TestWordsOf(t *testing.T) {
	for name, want := range map[string]string{
		"ComputeURLMap":     "compute url map",
		"server_tls-secret": "server tls secret",
		"vaultAuthRef":      "vault auth ref",
		"MariaDB":           "maria db",
		"S3Bucket":          "s3 bucket",
		"":                  "",
	} {
		if got := strings.Join(wordsOf(name), " "); got != want {
			t.Errorf("wordsOf(%s) = %s, want %s", name, got, want)
		}
	}
}

func TestServedChanged(t *testing.T) {
	one, two := servedBy("a.example.com/A", "b.other.com/B"), servedBy("a.example.com/A", "b.other.com/B*", "c.third.com/C")
	if diff := cmp.Diff([]string{"other.com", "third.com"}, one.Changed(two)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if changed := one.Changed(one); len(changed) > 0 {
		t.Errorf("the same changed in %v", changed)
	}
	if diff := cmp.Diff([]string{"example.com", "other.com"}, (*Served)(nil).Changed(one)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
}

// TestInference: other kinds that are served make a difference only to objects that
// name them, also where a kind of the object's own group takes the place of a Secret.
func TestInference(t *testing.T) {
	kind, object := decode(t, []byte(`{apiVersion: a.example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {queue: q, credentialsRef: {name: s}}}`))
	sum := func(served ...string) uint64 {
		return Inference(Builtin().Serving(servedBy(served...)).Extract(kind, object))
	}
	without, with := sum("a.example.com/Widget"), sum("a.example.com/Widget", "b.example.com/Queue")
	if without == with || with != sum("b.example.com/Queue", "c.example.com/Other") {
		t.Errorf("%d without the kind, %d with it", without, with)
	}
	if own := sum("a.example.com/Widget", "a.example.com/Credentials"); own == without {
		t.Errorf("%d with Credentials of the own group, and without", own)
	}
}

// TestKindsWithoutLetters: an extension API server may serve kinds of any name.
func TestKindsWithoutLetters(t *testing.T) {
	x := Builtin().Serving(servedBy("example.com/_", "example.com/", "example.com/-.", "example.com/Gadget"))
	object := map[string]any{"metadata": map[string]any{"namespace": "own"}, "spec": map[string]any{"gadgetRef": map[string]any{"name": "x"}}}
	if got := x.Extract(graph.Kind{Group: "example.com", Kind: "_"}, object); len(got) != 1 || got[0].To.Kind != "Gadget" {
		t.Errorf("%+v", got)
	}
}

// TestHostileKeys: what keys and paths are made of costs no more than they are long.
func TestHostileKeys(t *testing.T) {
	x := Builtin().Serving(servedBy("example.com/Widget"))
	long := strings.Repeat("a-", 500_000)
	hosts := make([]any, 3000)
	for i := range hosts {
		hosts[i] = strings.Repeat("a.b:80,", 8)
	}
	for name, spec := range map[string]map[string]any{
		"LongKey":  {long: "x", "services": map[string]any{long: map[string]any{"name": "x"}}},
		"LongKind": {"foo": map[string]any{"name": "x", "kind": long}},
		"LongPath": {long: map[string]any{"hosts": hosts, "secretName": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			object := map[string]any{"metadata": map[string]any{"namespace": "own"}, "spec": spec}
			allocated := testing.AllocsPerRun(1, func() { x.Extract(graph.Kind{Group: "example.com", Kind: "Widget"}, object) })
			if got := x.Extract(graph.Kind{Group: "example.com", Kind: "Widget"}, object); len(got) > 0 {
				t.Errorf("%d references", len(got))
			}
			if allocated > 100_000 {
				t.Errorf("%.0f allocations", allocated)
			}
		})
	}
}
