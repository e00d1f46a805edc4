import { serveAgent } from "manyhands";
import { concierge } from "./concierge.ts";

/**
 * Serves the agent, as `manyhands start` does. It also runs alone:
 * `PORT=4105 bun src/agents/serve-concierge.ts`.
 */
await serveAgent(concierge);
