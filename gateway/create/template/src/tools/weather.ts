import { defineTool } from "manyhands";
import * as z from "zod";

/**
 * A tool: its name, its input, and what it does. The model reads the description, and the text that
 * `run` returns.
 */
export const weather = defineTool({
  name: "weather",
  description: "The weather in a city today.",
  input: z.strictObject({ city: z.string().describe("The name of the city, in English.") }),
  // It only reads, so it may simply run again after a crash.
  effect: "pure",
  async run({ city }, { fetch }) {
    const response = await fetch(`https://wttr.in/${encodeURIComponent(city)}?format=3`);
    if (!response.ok) throw new Error(`There is no weather for ${city} (HTTP ${response.status}).`);
    return response.text();
  },
});
