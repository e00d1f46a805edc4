import { serveAgent } from "manyhands";
import { concierge } from "./concierge.ts";

/**
 * The agent's server, which `manyhands start` runs. It also runs alone:
 * `PORT=4105 bun src/agents/serve-concierge.ts`.
 */
await serveAgent(concierge);
