import { defineAgent, defineTool, serveAgent } from "manyhands";
import { askHuman, files } from "manyhands/tools";
import * as z from "zod";

const weather = defineTool({
  name: "weather",
  description: "Tells today's weather in a city.",
  input: z.strictObject({ city: z.string() }),
  effect: "pure",
  run: async ({ city }, { fetch }) => (await fetch(`https://wttr.in/${city}?format=3`)).text(),
});

await serveAgent(
  defineAgent({
    name: "concierge",
    description: "Plans a day out.",
    instructions: "Check the weather first.",
    tools: [weather, files(), askHuman()],
  }),
);
