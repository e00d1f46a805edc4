import { serveAgent } from "@manyhands/shared/server/serve-agent";
import { browser } from "./agent.ts";

await serveAgent({
  name: "browser",
  define: ({ web, browsing }, limits) => browser({ web, browsing, limits }),
});
