import { serveAgent } from "@manyhands/shared/server/serve-agent";
import { swe } from "./agent.ts";

await serveAgent({
  name: "swe",
  define: ({ shell, sandbox, egress, guarded }, limits) => swe({ shell, sandbox, egress, guarded, limits }),
});
