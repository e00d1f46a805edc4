import { serveAgent } from "@manyhands/shared/server/serve-agent";
import { manus } from "./agent.ts";

await serveAgent({
  name: "manus",
  define: ({ shell, domains, web, desktop, delegates }, limits) =>
    manus({ shell, domains, web, desktop, delegates, limits }),
});
