import { serveAgent } from "manyhands";
import { browser } from "./agent.ts";

await serveAgent(browser);
