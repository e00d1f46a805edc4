import { serveAgent } from "@manyhands/shared/server/serve-agent";
import { manus } from "./agent.ts";

await serveAgent({
  name: "manus",
  define: ({ shell, domains, web, browsing, desktop, delegates }, limits) =>
    manus({ shell, domains, web, browsing, desktop, delegates, limits }),
});
