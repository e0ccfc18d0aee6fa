// The messages of the stream protocol. Written by make generate from api/stream/v1alpha1.

/** Action changes a graph. It has one of its members. */
export interface Action {
  /** svx sets a vertex. */
  svx?: Vertex;
  /** dvx deletes a vertex. */
  dvx?: Deletion;
  /** sarc sets an arc. */
  sarc?: Arc;
  /** darc deletes an arc, by s, d and t. */
  darc?: Arc;
}

/** Arc is a reference from one object to another. s, d and t identify it. */
export interface Arc {
  /** s is the source. */
  s: Key;
  /** d is the destination. */
  d: Key;
  /** t is the type: or, to an owner; r, to an object that the source uses or selects; t, to an object that the source names for others to use. */
  t: "or" | "r" | "t";
  /** a has more properties. An arc that is deleted has none. */
  a?: Attributes;
}

/** Attributes are the properties of an arc beside its identity. A property that is false or empty is absent. */
export interface Attributes {
  /** c reports whether the owner is the controller. */
  c?: boolean;
  /** b reports whether the owner's deletion waits for the source's. */
  b?: boolean;
  /** e reports whether the destination is not in the graph: it does not exist, or x says more. */
  e?: boolean;
  /** x, with e, says why the destination is not in the graph although it may exist. outside: it exists, and the view does not select it. unknown: the view does not watch its kind or namespace. */
  x?: "outside" | "unknown";
  /** o reports whether the reference is optional: the object works without the destination. */
  o?: boolean;
  /** f has the paths of the fields that made the arc, without indices, at most four. The path of an inferred reference begins with inferred/. */
  f?: string[];
  /** w has words for the fields, such as mounts or selects, which read from the source to the destination. An owner reference has none. */
  w?: string[];
}

/** Change is one change of one object. It has the member of its type. */
export interface Change {
  /** t is the time of the change, or of the last of a series. */
  t: string;
  /** f is the earliest time of the change, if it happened between f and t, such as while the operator was down. With added, it is then the time at which the object was created. */
  f?: string;
  /** vx identifies the object. */
  vx: Key;
  /** k is the kind of the object. */
  k: string;
  /** u is the UID of the object. */
  u?: string;
  /** o is the controller of the object, as it was or is. */
  o?: Key;
  /** ok is the kind of the controller. */
  ok?: string;
  /** type is the type of the change. */
  type: "added" | "removed" | "health" | "content" | "reference";
  /** health is the change of the health; with added, the health at first, and with removed, the last one. */
  health?: HealthChange;
  /** paths are the fields that changed, with content. Absent if these are not known, since the object changed while nothing was recorded. */
  paths?: ChangedPath[];
  /** morePaths is the number of fields that changed beside those of paths. */
  morePaths?: number;
  /** ref is the reference, with reference. */
  ref?: ReferenceChange;
  /** times is the number of changes of a series of equal changes that became one, between first and t. Absent for one change. */
  times?: number;
  /** first is the time of the first change of a series. */
  first?: string;
  /** via says how the object of the question leads to this one. Absent for the object itself, and for the changes of a whole graph. */
  via?: ChangeVia;
}

/** ChangeVia is the last step of the shortest path from the object of the question to another object. */
export interface ChangeVia {
  /** vx is the neighbour of the object on the path. */
  vx: Key;
  /** k is the kind of the neighbour. */
  k?: string;
  /** w has the words of the arc, which read from its source to its destination. An owner reference has none. */
  w?: string[];
  /** up reports whether the arc leads from the object to the neighbour, such as from a pod to its owner. */
  up?: boolean;
  /** depth is the number of arcs from the object of the question. */
  depth: number;
}

/** ChangedPath is a field that changed. */
export interface ChangedPath {
  /** p is the path below the object, such as spec.template.spec.containers[web].image: an element of a list with names has its name in brackets, another one its index. */
  p: string;
  /** op says whether the field was added, removed or changed. */
  op: "added" | "removed" | "changed";
  /** b is the value before. Values are kept only of images, replicas, versions and other fields that have no secrets. */
  b?: string;
  /** a is the value after. */
  a?: string;
}

/** ChangesQuery asks for the changes of a graph, newest first. The parameters of a get have the same names, except that changes has the object. */
export interface ChangesQuery {
  /** object is the object that the question is about, as RESOURCE.GROUP/NAMESPACE/NAME. Absent for the whole graph. */
  object?: string;
  /** since is the time of the oldest change, in RFC 3339 or as a duration before now, such as 2h. Absent: all that the history has. */
  since?: string;
  /** until is the time of the newest change, in the forms of since. Absent: now. */
  until?: string;
  /** alone leaves out the objects that object leads to. */
  alone?: boolean;
  /** limit is the maximum number of changes, up to 1,000; 200 without it. */
  limit?: number;
}

/** ClientMessage is a message of a client on a connection for many graphs. It has either subscribe or unsubscribe. */
export interface ClientMessage {
  /** id is repeated in the answer. */
  id: number;
  /** subscribe asks for a graph. */
  subscribe?: Subscribe;
  /** unsubscribe ends a channel. */
  unsubscribe?: Unsubscribe;
}

/** CloseError says why a stream ends, or was not begun. */
export interface CloseError {
  /** code is the code of a close frame of a WebSocket. */
  code: number;
  /** code_string is the name of the code. */
  code_string: string;
  /** reason is a word for programs, such as NotFound, Unauthorized or LimitExceeded. A close frame without a word has none. */
  reason: string;
  /** message is a text for people. */
  message: string;
}

/** Cluster is a cluster of a fleet. */
export interface Cluster {
  /** metadata has the name of the ClusterLink. */
  metadata: Metadata;
  /** displayName is a name for people. */
  displayName?: string;
  /** aliases are names of the cluster in the objects of other clusters. */
  aliases?: string[];
  /** connected reports whether the graphs of the cluster can be opened. */
  connected: boolean;
  /** since is the time at which the cluster was connected, or lost. Absent if it has never been connected. */
  since?: string;
}

/** ClusterList is a list of the clusters of a fleet. */
export interface ClusterList {
  /** apiVersion is stream.graphview.dev/v1alpha1. */
  apiVersion: string;
  /** kind is ClusterList. */
  kind: string;
  /** items are the clusters, by name. */
  items: Cluster[];
}

/** Deletion deletes a vertex. */
export interface Deletion {
  /** vx identifies the vertex. */
  vx: Key;
}

/** DeletionFacts are the properties of an object that decide which objects a deletion deletes or breaks. */
export interface DeletionFacts {
  /** f are the finalizers. */
  f?: string[];
  /** p reports whether the object's controller deletes the objects that it manages when it is deleted. */
  p?: boolean;
  /** k reports whether the object is excluded from that. */
  k?: boolean;
  /** e reports whether the object is a finished pod. */
  e?: boolean;
  /** u reports whether the object is a pod without a node. */
  u?: boolean;
  /** s reports whether the object's controller is suspended: it makes and prunes nothing. */
  s?: boolean;
  /** g are the grants of a ReferenceGrant. */
  g?: Grant[];
}

/** Gap is a time in which changes were not recorded one by one. */
export interface Gap {
  /** from is the beginning of the gap. */
  from: string;
  /** until is its end. */
  until: string;
  /** why says why, for people. */
  why: string;
}

/** Grant allows the objects of a kind in another namespace to refer to those of a kind in the namespace of the ReferenceGrant. */
export interface Grant {
  /** fg is the group of the objects that refer. */
  fg?: string;
  /** fk is their kind. */
  fk: string;
  /** ns is their namespace. */
  ns: string;
  /** tg is the group of the objects that are referred to. */
  tg?: string;
  /** tk is their kind. */
  tk: string;
  /** tn is the name of the only object that may be referred to. */
  tn?: string;
}

/** Graph is the graph of the view of the same name: the objects that the view selects and their references to each other. It is read-only. A list has the counts, a single graph the actions that build it. */
export interface Graph {
  /** apiVersion is stream.graphview.dev/v1alpha1. */
  apiVersion?: string;
  /** kind is the kind of the answer. */
  kind?: string;
  /** metadata has the name, namespace and UID of the view, or the name of the cluster. */
  metadata?: Metadata;
  /** vertices is the number of visible vertices. */
  vertices?: number;
  /** arcs is the number of visible arcs. */
  arcs?: number;
  /** roots is the number of root objects. */
  roots?: number;
  /** subscribers is the number of open subscriptions. */
  subscribers?: number;
  /** message says why the graph is not served. */
  message?: string;
  /** ineffective says which parts of the GraphView have no effect; empty if each has one. Absent if that is not known yet, or if the user may not get the GraphView. */
  ineffective?: string;
  /** actions build the graph from an empty one, in this order: svx sets a vertex, sarc sets an arc. */
  actions?: Action[];
  /** warnings are the reasons why the graph may lack objects. */
  warnings?: Warning[];
  /** kinds are the kinds of the resources that the view watches. */
  kinds?: ResourceKind[];
  /** rev is the revision of the graph. A stream with the parameter since continues from it. */
  rev?: string;
  /** passed is about how many objects the user may see and the graph does not have, with only=problems. */
  passed?: number;
  /** synced reports whether every selected resource has synced, or has a warning that says why not. */
  synced?: boolean;
  /** at is the time at which the graph was so, for a request with the parameter at. Absent for the graph as it is now. */
  at?: string;
}

/** GraphChanges has the changes of the objects of a graph, or of one object and the objects that it leads to. */
export interface GraphChanges {
  /** apiVersion is stream.graphview.dev/v1alpha1. */
  apiVersion?: string;
  /** kind is the kind of the answer. */
  kind?: string;
  /** metadata has the name, namespace and UID of the view, or the name of the cluster. */
  metadata?: Metadata;
  /** object is the object that the question is about. Absent for the whole graph. */
  object?: Key;
  /** changes are the changes, the newest first. */
  changes: Change[];
  /** since is the time from which the history of these objects is complete, apart from gaps. It is later than the time that was asked for if the history does not reach back that far. */
  since: string;
  /** until is the time of the answer. As since of the next question, it asks for the changes after these. */
  until: string;
  /** gaps are the times in which changes were not recorded one by one, the newest first. */
  gaps?: Gap[];
  /** more reports whether there are more changes than limit. */
  more?: boolean;
  /** leftOut has lines for people about the gaps of the answer. */
  leftOut?: string[];
}

/** GraphImpact is the effect of the deletion of one object on the others of a graph. */
export interface GraphImpact {
  /** apiVersion is stream.graphview.dev/v1alpha1. */
  apiVersion?: string;
  /** kind is the kind of the answer. */
  kind?: string;
  /** metadata has the name, namespace and UID of the view, or the name of the cluster. */
  metadata?: Metadata;
  /** object is the object that the question is about. */
  object: Key;
  /** propagationPolicy says how the object is deleted. */
  propagationPolicy: "Background" | "Foreground" | "Orphan";
  /** counts are the numbers of objects of the graph, by verdict. */
  counts: Record<string, number>;
  /** groups are the objects by verdict and reason, the worst first. An unaffected object without a reference to a deleted one is left out. */
  groups: ImpactGroup[];
  /** unseen is the number of objects outside the graph that the user may see and that refer to deleted ones. */
  unseen?: number;
  /** synced reports whether the graph was complete. */
  synced: boolean;
  /** warnings are the reasons why the graph may lack objects. */
  warnings?: Warning[];
  /** leftOut has lines for people about the gaps of the answer: resources that the user may not list or that have not synced, other namespaces, inferred references. */
  leftOut?: string[];
}

/** GraphList is a list of graphs without their actions. */
export interface GraphList {
  /** apiVersion is stream.graphview.dev/v1alpha1. */
  apiVersion: string;
  /** kind is GraphList. */
  kind: string;
  /** metadata is the standard list metadata. */
  metadata: Record<string, unknown>;
  /** items are the graphs. */
  items: Graph[];
}

/** GraphObject is one object of a graph with its summary and its arcs. */
export interface GraphObject {
  /** apiVersion is stream.graphview.dev/v1alpha1. */
  apiVersion?: string;
  /** kind is the kind of the answer. */
  kind?: string;
  /** metadata has the name, namespace and UID of the view, or the name of the cluster. */
  metadata?: Metadata;
  /** vx identifies the vertex. */
  vx: Key;
  /** c is the tag of the content, another one for another content, for clients that send have. */
  c?: string;
  /** o is the object, without managedFields. Secrets have none. */
  o?: Record<string, unknown>;
  /** j is the list of the values at the view's jsonPath, in place of the object. */
  j?: unknown[];
  /** f has the values of the view's fields by their names, in place of the object. */
  f?: Record<string, unknown>;
  /** m is a summary in place of the object, for content=summary. */
  m?: Summary;
  /** out are the arcs from the object, at most 1,000. */
  out: Arc[];
  /** in are the arcs to the object, at most 1,000. */
  in: Arc[];
  /** more reports whether there are more arcs. */
  more?: boolean;
}

/** HaveMessage is the only message of a client on a connection for one graph, with the parameter have=message. */
export interface HaveMessage {
  /** have has the sums of the graph of the client. */
  have: string;
}

/** HealthChange is a change of the health of an object, in the words of its summary. An absent word means that the object does not say. */
export interface HealthChange {
  /** from is the health before. */
  from?: "ok" | "suspended" | "terminating" | "progressing" | "degraded";
  /** to is the health after. */
  to?: "ok" | "suspended" | "terminating" | "progressing" | "degraded";
  /** why is the reason for to, in a word. */
  why?: string;
}

/** ImpactGroup has the objects with the same verdict for the same reason. */
export interface ImpactGroup {
  /** verdict is the effect on the objects. */
  verdict: "deleted" | "breaks now" | "probably breaks" | "cannot start again" | "loses an optional reference" | "unaffected";
  /** kind is the kind of the objects. */
  kind: string;
  /** objects are the objects. */
  objects: Key[];
  /** path leads from the first of objects to the object that the question is about. */
  path: ImpactStep[];
  /** holds delay the deletion of the objects. */
  holds?: ImpactHold[];
  /** again is the controller that recreates the objects. */
  again?: Key;
}

/** ImpactHold delays a deletion: a finalizer must be removed, or other objects must be deleted first. */
export interface ImpactHold {
  /** finalizer is the finalizer that must be removed. */
  finalizer?: string;
  /** by are the objects that must be deleted first. */
  by?: Key[];
}

/** ImpactStep is one step of a path. */
export interface ImpactStep {
  /** s is the source. */
  s: Key;
  /** d is the destination. */
  d: Key;
  /** t is the type of the arc, or in for an object in a namespace or of a kind. */
  t: "or" | "r" | "t" | "in";
  /** f has the fields of the arc. */
  f?: string[];
  /** w has the words of the arc. */
  w?: string[];
  /** reversed reports whether the arc leads from d to s. */
  reversed?: boolean;
}

/** Key identifies a vertex. */
export interface Key {
  /** g is the group; empty is the core group. */
  g: string;
  /** v is the version. */
  v: string;
  /** r is the resource, such as pods. */
  r: string;
  /** ns is the namespace; absent for cluster-scoped objects. */
  ns?: string;
  /** n is the name. */
  n: string;
}

/** Message is one message of a stream. Members that would be empty are absent. */
export interface Message {
  /** actions change the graph, in this order. */
  actions?: Action[];
  /** warnings are live from now on. They replace warnings of equal identity. */
  warnings?: Warning[];
  /** cleared are the warnings that are over, by type and attributes. */
  cleared?: Warning[];
  /** kinds are the kinds of the resources that the view watches. They are sent once for each connection, and again when they have changed. */
  kinds?: ResourceKind[];
  /** error says why the stream ends. It is in the last message. */
  error?: CloseError;
  /** rev is the revision of the graph. With it, and only with it, the graph of the client is the graph of the view at one instant. The parameter since continues from it. */
  rev?: string;
  /** synced reports whether the graph is complete: every selected resource has synced, or has a warning that says why not. */
  synced?: boolean;
  /** reset comes before the actions of the message: the client forgets its graph. */
  reset?: boolean;
  /** keep, with reset, has the buckets that the client does not forget, as BITS.BUCKETS. */
  keep?: string;
  /** syncing reports whether the server still reads the cluster. The graph of the client stays as it is until the server has read everything. */
  syncing?: boolean;
}

/** Metadata identifies a view or a cluster. */
export interface Metadata {
  /** name is the name of the view or cluster. */
  name: string;
  /** namespace is the namespace of the view. */
  namespace?: string;
  /** uid is the UID of the view. */
  uid?: string;
}

/** ReferenceChange is a change of a reference of the object. */
export interface ReferenceChange {
  /** d is the destination. */
  d: Key;
  /** k is the kind of the destination. */
  k?: string;
  /** r is the type of the arc. */
  r: "or" | "r" | "t";
  /** f has the fields of the arc. */
  f?: string[];
  /** w has the words of the arc. */
  w?: string[];
  /** change is added or removed, or missing for an added arc without a destination. */
  change: "added" | "removed" | "missing";
}

/** RemoteReference is a reference to an object in another cluster, which may exist or not. Without a kind it is to the cluster itself. */
export interface RemoteReference {
  /** d is the object's name for the cluster, such as argocd:https://eu-1.example.com. The ClusterLink of a hub has it as an alias. */
  d: string;
  /** g is the group of the object in the cluster. */
  g?: string;
  /** k is its kind. */
  k?: string;
  /** ns is its namespace. */
  ns?: string;
  /** n is its name. */
  n?: string;
}

/** Requirement is one condition on a label. */
export interface Requirement {
  /** l is the label. */
  l: string;
  /** o is the operator. */
  o: "In" | "NotIn" | "Exists" | "DoesNotExist";
  /** v are the values. */
  v?: string[];
}

/** ResourceKind is the kind of the objects of a resource. */
export interface ResourceKind {
  /** g is the group; empty is the core group. */
  g: string;
  /** v is the version. */
  v: string;
  /** r is the resource. */
  r: string;
  /** k is the kind. */
  k: string;
  /** a reports whether the graph has all objects of the resource in the namespaces of the view, except for the objects in warnings. */
  a?: boolean;
}

/** Selection is a selector that has to select an object. */
export interface Selection {
  /** g is the group of the objects; empty is the core group. */
  g: string;
  /** k is their kind. */
  k: string;
  /** q are the conditions on their labels. */
  q: Requirement[];
}

/** ServerMessage is a message of the server on a connection for many graphs: the answer to a message of the client, with its id, or a message of a channel. */
export interface ServerMessage {
  /** id is the id of the client's message. */
  id?: number;
  /** channel is the number of the channel. Numbers are never used again. */
  channel?: number;
  /** actions change the graph, in this order. */
  actions?: Action[];
  /** warnings are live from now on. They replace warnings of equal identity. */
  warnings?: Warning[];
  /** cleared are the warnings that are over, by type and attributes. */
  cleared?: Warning[];
  /** kinds are the kinds of the resources that the view watches. They are sent once for each connection, and again when they have changed. */
  kinds?: ResourceKind[];
  /** error says why the stream ends. It is in the last message. */
  error?: CloseError;
  /** rev is the revision of the graph. With it, and only with it, the graph of the client is the graph of the view at one instant. The parameter since continues from it. */
  rev?: string;
  /** synced reports whether the graph is complete: every selected resource has synced, or has a warning that says why not. */
  synced?: boolean;
  /** reset comes before the actions of the message: the client forgets its graph. */
  reset?: boolean;
  /** keep, with reset, has the buckets that the client does not forget, as BITS.BUCKETS. */
  keep?: string;
  /** syncing reports whether the server still reads the cluster. The graph of the client stays as it is until the server has read everything. */
  syncing?: boolean;
  /** impact is the answer to a question. */
  impact?: GraphImpact;
  /** changes is the answer to a question about changes. */
  changes?: GraphChanges;
}

/** Subscribe asks for the graph of a GraphView, by namespace and name, or for that of an ad-hoc view, by spec. */
export interface Subscribe {
  /** cluster is the name of the ClusterLink of the cluster that has the GraphView. */
  cluster?: string;
  /** namespace is the namespace of the GraphView. */
  namespace?: string;
  /** name is the name of the GraphView. */
  name?: string;
  /** since is the revision of the last whole graph that the client has. */
  since?: string;
  /** have has the sums of the graph of the client, as BITS.SEED.SUMS; none, if it has nothing. */
  have?: string;
  /** content is the content of each vertex. */
  content?: "object" | "summary" | "none";
  /** root narrows the graph to these objects and the objects that they lead to, each as RESOURCE.GROUP/NAMESPACE/NAME. */
  root?: string[];
  /** direction is the direction from root; Down without it. */
  direction?: "Down" | "Up" | "Both";
  /** depth is the maximum number of references from the nearest object of root; 0 means no maximum. */
  depth?: number;
  /** impact asks for the effect of the deletion of this object, in place of the graph. */
  impact?: string;
  /** propagationPolicy, with impact, says how the object is deleted. */
  propagationPolicy?: string;
  /** changes asks for the changes of the graph, in place of the graph. */
  changes?: ChangesQuery;
  /** at asks for the graph as it was at this time, in the forms of since of changes. It is sent once. */
  at?: string;
  /** spec declares an ad-hoc view. It is the spec of a GraphView without serviceAccountName. The view has the rights of its user and exists while the channel is open. */
  spec?: GraphViewSpec;
}

/** Summary has the properties of an object that a list or a map of the graph shows. Times are in seconds since 1970, and absent if the object does not say. */
export interface Summary {
  /** k is the kind. */
  k: string;
  /** h is the health; absent if the object does not say. From od on it is degraded. */
  h?: "ok" | "suspended" | "terminating" | "progressing" | "degraded";
  /** w is the reason for the health, in a word. */
  w?: string;
  /** rd is how many parts are ready, and how many should be. Absent if the kind has no parts. */
  rd?: [number, number];
  /** end reports whether the object has ended, such as a pod that failed. It does not matter while the controller that owns the object is ok. */
  end?: boolean;
  /** s is the time since which the object has this health. */
  s?: number;
  /** od is the time from which the object counts as degraded unless it changes. */
  od?: number;
  /** t is the time at which the object was created. */
  t?: number;
  /** app is the application that the object belongs to, by its labels. */
  app?: string;
  /** u is the UID. */
  u: string;
  /** root reports whether the object is a root of the view. */
  root?: boolean;
  /** del has the properties that affect deletions. */
  del?: DeletionFacts;
  /** x are the references of the object to other clusters. */
  x?: RemoteReference[];
  /** sel is a selector that must match an object in the namespace of the object. */
  sel?: Selection;
  /** pl are the labels of the pods that the object makes. */
  pl?: Record<string, string>;
}

/** Unsubscribe ends a channel. */
export interface Unsubscribe {
  /** channel is the number of the channel. */
  channel: number;
}

/** Vertex is an object of the cluster. At most one of o, j, f and m is there; a Secret has at most m. */
export interface Vertex {
  /** vx identifies the vertex. */
  vx: Key;
  /** c is the tag of the content, another one for another content, for clients that send have. */
  c?: string;
  /** o is the object, without managedFields. Secrets have none. */
  o?: Record<string, unknown>;
  /** j is the list of the values at the view's jsonPath, in place of the object. */
  j?: unknown[];
  /** f has the values of the view's fields by their names, in place of the object. */
  f?: Record<string, unknown>;
  /** m is a summary in place of the object, for content=summary. */
  m?: Summary;
}

/** Warning is a reason why the graph may lack objects. t and a identify it. */
export interface Warning {
  /** t is the type, such as ACCESS_DENIED. */
  t: string;
  /** m is a text for people. */
  m?: string;
  /** a has the subject: g, v, r, ns and n as in a key. */
  a?: Record<string, unknown>;
}

/** Exclude keeps the resources that it matches out of the graph. */
export interface Exclude {
  /** resourceSelectorExpression is a CEL expression that must evaluate to a bool. Variables: group, version, resource, kind (strings) and namespaced (bool). */
  resourceSelectorExpression: string;
}

/** Follow says in which direction, and how far, a graph is explored from its roots. */
export interface Follow {
  /** direction is Down, Up or Both. Down leads to the objects that an object refers to or owns, which are its dependencies. Up leads to the objects that refer to it and to its owners, which depend on it. Both goes down and up at each step. */
  direction: "Down" | "Up" | "Both";
  /** depth is the maximum number of references between an object and the nearest root. 0, the default, means no maximum. */
  depth?: number;
  /** types are the types of references to follow. Empty means all. */
  types?: Array<"or" | "r" | "t">;
}

/** GraphViewSpec selects the contents of a graph. */
export interface GraphViewSpec {
  /** queries select the resources of the graph. Each group/version/resource that the cluster serves is matched against the queries in order, and the first query that matches includes or excludes it. A resource that no query matches is left out. */
  queries: Query[];
  /** namespaces restricts namespaced objects to some namespaces. Absent means all namespaces. Cluster-scoped objects are selected by queries alone. */
  namespaces?: Namespaces;
  /** roots restricts the graph to some objects and the objects that can be reached from them. Absent means all selected objects. */
  roots?: Roots;
  /** inferredReferences says whether the graph has references that are inferred from an address, or from a key that contains a kind: Include, the default, or Exclude. An inferred reference exists only while its target exists, and its field begins with inferred/. */
  inferredReferences?: "Include" | "Exclude";
  /** serviceAccountName names a ServiceAccount in the GraphView's namespace. The graph then contains only objects that the account may list and watch. It is required unless the operator runs with --require-service-account=false. */
  serviceAccountName?: string;
}

/** Include selects resources, and optionally some of their objects and fields. */
export interface Include {
  /** resourceSelectorExpression is a CEL expression that must evaluate to a bool. Variables: group, version, resource, kind (strings) and namespaced (bool). */
  resourceSelectorExpression: string;
  /** object selects among the objects of the matched resources. Absent means all of them, whole. */
  object?: ObjectFilter;
}

/** Namespaces selects namespaces, by name or by selectors. */
export interface Namespaces {
  /** names are the namespaces to select, whether they exist yet or not. */
  names?: string[];
  /** labelSelector selects namespaces by their labels, in the syntax of "kubectl get -l". */
  labelSelector?: string;
  /** fieldSelector selects namespaces by their fields, in the syntax of "kubectl get --field-selector". */
  fieldSelector?: string;
  /** objectSelectorExpression is a CEL expression that must evaluate to a bool; it selects among the namespaces that the other fields leave. Variables: obj (the Namespace), group, version, resource, kind, namespace (empty), name (strings), labels and annotations (maps of strings). */
  objectSelectorExpression?: string;
}

/** ObjectFilter selects objects, and parts of them. An absent or empty field selects everything. */
export interface ObjectFilter {
  /** labelSelector selects objects by their labels, in the syntax of "kubectl get -l". */
  labelSelector?: string;
  /** fieldSelector selects objects by fields that the API server supports for the resource, in the syntax of "kubectl get --field-selector". */
  fieldSelector?: string;
  /** objectSelectorExpression is a CEL expression that must evaluate to a bool. Variables: obj (the object), group, version, resource, kind, namespace, name (strings), labels and annotations (maps of strings). */
  objectSelectorExpression?: string;
  /** fields maps names to JSON paths, such as .status.phase. Subscribers get the value at each path under its name, in place of the whole object. A path with a wildcard, slice, filter or .. yields a list. Fields that an object lacks are absent. */
  fields?: Record<string, string>;
  /** jsonPath selects the parts of an object that subscribers get, as a list without names, in the syntax of "kubectl get -o jsonpath". Without it and without fields they get whole objects. */
  jsonPath?: string;
}

/** Query includes or excludes the resources that it matches. */
export interface Query {
  /** include adds the resources that it matches to the graph. */
  include?: Include;
  /** exclude keeps the resources that it matches out of the graph, even if a later query includes them. */
  exclude?: Exclude;
}

/** RootObject selects root objects by kind, name and labels, or by the release of Helm, Application of Argo CD, or Kustomization or HelmRelease of Flux that deploys them. A query must also select them. */
export interface RootObject {
  /** group of the kind; "" is the core group. Absent means any group. */
  group?: string;
  /** kind of the objects, such as Deployment. */
  kind?: string;
  /** namespace of the objects. Absent means any namespace. */
  namespace?: string;
  /** name of the object. Absent means any name. */
  name?: string;
  /** labelSelector selects objects by their labels, in the syntax of "kubectl get -l". */
  labelSelector?: string;
  /** helmRelease is the name of a release of Helm, as "helm list" prints it. The roots are the Secrets or ConfigMaps of its revisions that are deployed or pending. For a HelmRelease of Flux use fluxHelmRelease. */
  helmRelease?: string;
  /** argoApplication is the name of an Application of Argo CD. */
  argoApplication?: string;
  /** fluxKustomization is the name of a Kustomization of Flux. */
  fluxKustomization?: string;
  /** fluxHelmRelease is the name of a HelmRelease of Flux. */
  fluxHelmRelease?: string;
}

/** Roots selects the objects from which a graph is explored. */
export interface Roots {
  /** objects select root objects by kind, name, labels or the tool that deployed them. An object is a root if one of objects or of objectSelectorExpressions selects it. */
  objects?: RootObject[];
  /** objectSelectorExpressions are CEL expressions that must evaluate to a bool; an object is a root if one of them is true. They are tried in order, so put the ones first that are true most often. An empty list restricts nothing. Variables: obj (the object), group, version, resource, kind, namespace, name (strings), labels and annotations (maps of strings). */
  objectSelectorExpressions?: string[];
  /** ignoreArcDirection lists the types of references that are followed in both directions. With "or", an object leads to the objects that it owns. */
  ignoreArcDirection?: Array<"or" | "r" | "t">;
  /** follow says in which direction, and how far, the graph is explored from the roots. Absent means along all references, and against the types in ignoreArcDirection. */
  follow?: Follow;
}
