import { serveAgent } from "manyhands";
import { swe } from "./agent.ts";

await serveAgent(swe);
