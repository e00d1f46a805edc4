import { serveAgent } from "@manyhands/shared/server/serve-agent";
import { manus } from "./agent.ts";

await serveAgent({ name: "manus", define: ({ shell, domains }, limits) => manus({ shell, domains, limits }) });
