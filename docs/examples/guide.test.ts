import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { createA2aClient } from "manyhands/a2a";
import { startAgentForTest } from "manyhands/testing";

const entry = fileURLToPath(new URL("./guide.ts", import.meta.url));

test("the guide asks who travels, and returns its list", async () => {
  await using guide = await startAgentForTest(entry, {
    script: [
      { calls: [{ name: "ask_human", args: { inquire: "Who travels?" } }] },
      {
        calls: [
          {
            name: "str_replace_editor",
            args: { command: "create", path: "places.md", file_text: "- Pantheon: for its dome.\n" },
          },
        ],
      },
      { text: "The Pantheon, for its dome." },
    ],
  });
  const client = await createA2aClient(guide.url);

  const asking = await client.send({ text: "What is worth seeing in Rome?" });
  expect(JSON.stringify(asking.status?.message?.parts)).toContain("Who travels?");

  const done = await client.answer(asking.id, "Two adults");
  expect(done.artifacts.map(({ name }) => name)).toContain("places.md");
  expect(done.artifacts.at(-1)?.parts[0]?.content?.value).toBe("The Pantheon, for its dome.");
});
