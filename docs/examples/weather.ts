import { defineTool } from "manyhands";
import * as z from "zod";

const service = process.env.WEATHER_URL ?? "https://wttr.in";

/** Today's weather in a city, from a public service. */
export const weather = defineTool({
  name: "weather",
  description: "Tells today's weather in a city.",
  input: z.strictObject({ city: z.string().min(1).describe("The city's name in English") }),
  effect: "pure",
  async run({ city }, { fetch }) {
    const response = await fetch(`${service}/${encodeURIComponent(city)}?format=3`);
    if (!response.ok) throw new Error(`The weather service answered ${response.status} for ${city}.`);
    return await response.text();
  },
});
