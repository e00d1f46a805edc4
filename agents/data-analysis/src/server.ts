import { serveAgent } from "@manyhands/shared/server/serve-agent";
import { dataAnalysis } from "./agent.ts";

await serveAgent({
  name: "data-analysis",
  define: ({ shell, python, databases }, limits) =>
    dataAnalysis({ shell, databases, limits, ...(python && { libraries: python.libraries }) }),
});
