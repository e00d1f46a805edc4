import { createWebhooks } from "manyhands/internal/a2a/push/webhooks";
import { startAgentServer } from "../a2a/agent-server.ts";

/** A scripted agent that notifies a receiver on this machine: `bun … HOME HOST:PORT`. */
const [home = "", host = ""] = Bun.argv.slice(2);
const pushBounds = { firstPauseMs: 5, longestPauseMs: 50, patienceMs: 600_000, keptMs: 60_000 };
const agent = await startAgentServer({
  home,
  webhooks: createWebhooks({ allow: [host], deny: [], only: [] }),
  pushBounds,
});
console.log(`ready ${agent.url}`);
