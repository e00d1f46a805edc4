import { serveAgent } from "manyhands";
import { concierge } from "./concierge.ts";

/**
 * The agent as a server, which `manyhands start` runs. It runs alone too:
 * `PORT=4105 bun src/agents/serve-concierge.ts`.
 */
await serveAgent(concierge);
