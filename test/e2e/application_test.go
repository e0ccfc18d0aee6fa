package e2e

// application is completed by controllers: a Deployment, which gets a ReplicaSet and Pods,
// the objects that they use, and a Service in front; and an unrelated ConfigMap.
const application = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {colour: green}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {colour: grey}
---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {password: of-the-application}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: web
      containers:
      - name: main
        image: example.com/web
        envFrom:
        - configMapRef: {name: web}
        - secretRef: {name: absent, optional: true}
      volumes:
      - {name: secret, secret: {secretName: web}}
`

// Specs of views over one namespace, which takes the place of NAMESPACE: all of
// six resources, and what belongs to the Deployment web.
const (
	wholeView = `
queries:
- include:
    resourceSelectorExpression: >-
      (group == '' && resource in ['pods', 'configmaps', 'secrets', 'serviceaccounts', 'services']) ||
      (group == 'apps' && resource in ['deployments', 'replicasets'])
namespaces: {names: [NAMESPACE]}
`
	rootedView = wholeView + `
roots:
  objectSelectorExpressions: ["group == 'apps' && resource == 'deployments' && name.startsWith('web')"]
  ignoreArcDirection: [or]
`
)

// wholeViewResources is how many resources wholeView selects.
const wholeViewResources = 7
