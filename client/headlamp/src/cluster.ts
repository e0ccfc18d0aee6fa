// How the plugin reaches the graphs of a cluster: through Headlamp's own proxy, with the user's own login.
import { ApiProxy } from "@kinvolk/headlamp-plugin/lib";
import type { Place } from "../../js/graphview.js";

/** Returns where the graphs of one of Headlamp's clusters are. The client calls fetch for every request and stream. */
export function placeOf(cluster: string): Required<Pick<Place, "base" | "fetch">> {
  return { base: location.origin, fetch: fetchOf(cluster) };
}

/** Returns a fetch that sends a request to a cluster as Headlamp sends its own. The answer of a stream is not read in advance. */
export function fetchOf(cluster: string): typeof fetch {
  return async (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const { headers, signal } = init ?? {};
    try {
      return await ApiProxy.clusterRequest(pathname + search, {
        cluster, isJSON: false, autoLogoutOnAuthError: false, headers: { ...(headers as Record<string, string>) }, ...(signal ? { signal } : {}),
      });
    } catch (error) {
      // Headlamp throws where fetch returns an answer that is not ok. Its text is "STATUS TEXT - MESSAGE".
      const { status = 502, message } = error as Error & { status?: number };
      return new Response(JSON.stringify({ message: message.replace(/^.*? - /, "") }), { status });
    }
  };
}
