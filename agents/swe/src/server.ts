import { serveAgent } from "@manyhands/shared/server/serve-agent";
import { swe } from "./agent.ts";

await serveAgent({ name: "swe", define: ({ shell, sandbox }, limits) => swe({ shell, sandbox, limits }) });
