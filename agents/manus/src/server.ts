import { serveAgent } from "@manyhands/shared/server/serve-agent";
import { manus } from "./agent.ts";

await serveAgent({
  name: "manus",
  define: ({ shell, web, browsing, desktop, delegates }, limits) =>
    manus({ shell, web, browsing, desktop, delegates, limits }),
});
