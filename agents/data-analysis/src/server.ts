import { serveAgent } from "manyhands";
import { dataAnalysis } from "./agent.ts";

await serveAgent(dataAnalysis);
