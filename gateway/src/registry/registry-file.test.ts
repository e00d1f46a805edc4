import { expect, test } from "bun:test";
import { registryFile } from "./registry-file.ts";

/** A file of registered agents that begins with this text. */
function fileWith(text?: string) {
  const kept = { text };
  const file = registryFile({
    read: async () => kept.text,
    change: async (next: (now: string | undefined) => string) => {
      kept.text = next(kept.text);
    },
  } as never);
  return { file, kept };
}
const agent = { name: "maps", url: "http://maps.example", token: "t" };

test("agents are kept beside each other, the first in a new file", async () => {
  const { file } = fileWith();
  expect(await file.read()).toEqual([]);
  await file.update((agents) => [...agents, agent]);
  await file.update((agents) => [...agents, { name: "other", url: "http://other.example" }]);
  expect(await file.read()).toEqual([agent, { name: "other", url: "http://other.example" }]);
});

test.each(["", "{", "[]", "null", '{"agents":{}}', '{"agents":[{"name":"x"}]}', '{"agents":[],"more":1}'])(
  "a damaged file is an error, and what is in it is not replaced: %j",
  async (text) => {
    const { file, kept } = fileWith(text);
    const message = expect.stringMatching(
      /^agents\.json .* is damaged\. Put the one of a backup in its place, or remove it: /,
    );
    await expect(file.read()).rejects.toMatchObject({ code: "internal", message });
    await expect(file.update(() => [agent])).rejects.toMatchObject({ code: "internal" });
    expect(kept.text).toBe(text);
  },
);
