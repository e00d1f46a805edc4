import { defineAgent, serveAgent } from "manyhands";
import { askHuman } from "manyhands/tools";
import { weather } from "./weather.ts";

await serveAgent(
  defineAgent({
    name: "concierge",
    description: "Plans a day out that fits the weather.",
    instructions: "You plan days out. Check the weather first. Indoors when it rains, outdoors when it does not.",
    tools: [weather, askHuman()],
  }),
);
