import { serveAgent } from "@manyhands/shared/server/serve-agent";
import { createDatabases } from "@manyhands/shared/tools/data/databases";
import { dataAnalysis } from "./agent.ts";

const databases = createDatabases();

await serveAgent({
  name: "data-analysis",
  define: ({ shell, python }, limits) =>
    dataAnalysis({ shell, databases, limits, ...(python && { libraries: python.libraries }) }),
});
