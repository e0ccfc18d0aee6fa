// The worker: an engine behind messages. Drawings go to the page as text, which takes
// less of the page's time to read than the same as objects.
import { Engine } from "./model/engine.js";

const engine = new Engine((message) => postMessage(JSON.stringify(message)));
onmessage = ({ data }) => engine.handle(data);
postMessage(JSON.stringify({ type: "ready" }));
