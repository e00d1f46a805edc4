import { defineAgent, serveAgent } from "manyhands";
import { askHuman, files } from "manyhands/tools";

await serveAgent(
  defineAgent({
    name: "guide",
    description: "Knows what is worth seeing in a city, and writes it down.",
    instructions: `You are a city guide.
- Ask with ask_human when you don't know who travels, and only then.
- Name at most five places, each with one sentence that says why.
- Save the list as places.md with str_replace_editor.`,
    tools: [files(), askHuman()],
    limits: { steps: 10 },
    examples: ["What should a family with two children see in Rome?"],
  }),
);
