// The worker: an engine behind messages.
import { Engine } from "./model/engine.js";

const engine = new Engine((message) => postMessage(message));
onmessage = ({ data }) => engine.handle(data);
postMessage({ type: "ready" });
