import { defineAgent } from "manyhands";
import { askHuman, files } from "manyhands/tools";
import { weather } from "../tools/weather.ts";

/** An agent: its purpose, its instructions, and its tools. */
export const concierge = defineAgent({
  name: "concierge",
  description: "Plans a day out.",
  instructions:
    "You plan days out. Look up the weather first, then suggest three things that suit it. Ask which city is meant when nobody said.",
  tools: [weather, files(), askHuman()],
  examples: ["Plan a day in Lisbon."],
});
