// Which graph an entity has: by its annotations.
import type { Entity } from "@backstage/catalog-model";

/** The annotations of Backstage's Kubernetes plugin. */
export const idAnnotation = "backstage.io/kubernetes-id";
export const namespaceAnnotation = "backstage.io/kubernetes-namespace";
/** NAMESPACE/NAME of a GraphView, in place of the view everything of the namespace. */
export const viewAnnotation = "graphview.dev/view";
/** RESOURCE.GROUP/NAMESPACE/NAME, in place of the Deployment with the id of the entity as its name. */
export const rootAnnotation = "graphview.dev/root";

export interface EntityGraph {
  view: string;
  root: string;
}

/** Returns the view of an entity and the object in it that the entity is, undefined if no annotation says so. */
export function graphOf({ metadata: { annotations = {} } }: Entity): EntityGraph | undefined {
  const id = annotations[idAnnotation];
  const namespace = annotations[namespaceAnnotation] || "default";
  const root = annotations[rootAnnotation] || (id && `deployments.apps/${namespace}/${id}`);
  return root ? { view: annotations[viewAnnotation] || `${root.split("/").length > 2 ? root.split("/")[1] : namespace}/everything`, root } : undefined;
}

/** Reports whether an entity has a graph: the if of an EntityLayout.Route. */
export const isGraphViewAvailable = (entity: Entity): boolean => graphOf(entity) !== undefined;
