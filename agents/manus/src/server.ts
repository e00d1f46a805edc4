import { serveAgent } from "@manyhands/shared/server/serve-agent";
import { manus } from "./agent.ts";

await serveAgent({ name: "manus", define: ({ shell, web }, limits) => manus({ shell, web, limits }) });
