import { serveAgent } from "manyhands";
import { manus } from "./agent.ts";

await serveAgent(manus);
