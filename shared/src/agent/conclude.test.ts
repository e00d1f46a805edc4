import { expect, spyOn, test } from "bun:test";
import { chown, link, open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { FilesUnavailable } from "../core/errors.ts";
import type { ReadEvent } from "../core/events/events.ts";
import { sha256Of } from "../core/text/sha256.ts";
import { defineTool } from "../core/tools/define-tool.ts";
import { recordBaseline } from "../machine/workspace/baseline.ts";
import { saveFile } from "../machine/workspace/save-file.ts";
import { agentForTest } from "../testing/agent/agent.ts";
import { askHuman } from "../tools/human/ask-human.ts";
import { terminate } from "../tools/human/terminate.ts";

const call = (name: string, args: unknown) => ({ calls: [{ name, args }] });
const artifacts = (events: ReadEvent[]) => events.filter((event) => event.type === "artifact-added");

const write = defineTool({
  name: "write",
  description: "Writes files.",
  input: z.strictObject({ files: z.record(z.string(), z.string()) }),
  effect: "once",
  async run({ files }, { workspace }) {
    for (const [path, text] of Object.entries(files)) await saveFile(workspace, path, new TextEncoder().encode(text));
    return "written";
  },
});

test("a task that ends without text does not answer with an earlier task's text", async () => {
  await using agent = await agentForTest({
    script: [
      { text: "It is blue." },
      call("terminate", { status: "success" }),
      call("terminate", { status: "failure", summary: "No idea." }),
    ],
    tools: [terminate],
  });
  await agent.run("Which colour?");
  const second = await agent.run("Do it.");
  expect(second.record.output).toEqual({ answer: "" });
  const third = await agent.run("Do more.");
  expect(artifacts(third.events)).toEqual([]);
});

test("files named like the answer are returned beside it", async () => {
  await using agent = await agentForTest({
    script: [call("write", { files: { answer: "a file", "partial-answer": "another" } }), { text: "Done." }],
    tools: [write],
  });
  const { record, events } = await agent.run("Write.");
  const named = artifacts(events);
  expect(named.map(({ name }) => name).sort()).toEqual(["./answer", "./partial-answer", "answer"]);
  // Another task of the conversation has an answer of its own.
  for (const { artifactId, name } of named) expect(artifactId).toBe(`${record.id}/${name}`);
});

test("a file that cannot be returned affects neither the answer nor the other files", async () => {
  const writeAndLink = defineTool({
    name: "write_and_link",
    description: "Writes a file and links another in from outside.",
    input: z.strictObject({}),
    effect: "once",
    async run(_, { workspace }) {
      await saveFile(workspace, "good.txt", new TextEncoder().encode("good"));
      const outside = join(workspace.metaRoot, "outside");
      await writeFile(outside, "another user's");
      if (process.getuid?.() === 0) await chown(outside, 12345, 12345);
      await link(outside, join(workspace.root, "linked.txt"));
      return "written";
    },
  });
  await using agent = await agentForTest({
    script: [call("write_and_link", {}), { text: "Done." }],
    tools: [writeAndLink],
  });
  const { record, events } = await agent.run("Write.");
  expect(record).toMatchObject({ status: "completed", output: { answer: "Done." } });
  expect(artifacts(events).map(({ name }) => name)).toContain("good.txt");
});

test("a task does not end without its files while they cannot be kept: it waits", async () => {
  await using agent = await agentForTest({
    script: [call("write", { files: { "a.txt": "a" } }), { text: "Done." }],
    tools: [write],
  });
  let away = 2;
  const put = agent.artifacts.put.bind(agent.artifacts);
  using _ = spyOn(agent.artifacts, "put").mockImplementation(async (...file) => {
    if (away-- > 0) throw new FilesUnavailable("The object store does not answer.");
    return put(...file);
  });
  const { record, events } = await agent.run("Write.");
  expect(record.status).toBe("completed");
  expect(artifacts(events).map(({ name }) => name)).toEqual(["a.txt", "answer"]);
  expect(away).toBe(-1);
});

test("a copy of a file the user sent is returned, the file itself is not, even if it came with an answer", async () => {
  await using agent = await agentForTest({
    script: [
      call("ask_human", { inquire: "Which file?" }),
      call("write", { files: { "copy.txt": "hello" } }),
      { text: "ok" },
    ],
    tools: [askHuman(), write],
  });
  const file = await agent.artifacts.put(new TextEncoder().encode("hello"), { name: "in.txt" });
  const id = await agent.start("Copy it.");
  await agent.until(id, "waiting");
  await agent.say(id, "This one.", [{ type: "file", ...file }]);
  await agent.until(id, "completed");
  expect(artifacts(await agent.events(id)).map(({ name }) => name)).toEqual(["copy.txt", "answer"]);
});

test("a file that came from elsewhere is not an artifact unless the task changed it", async () => {
  const fetch = defineTool({
    name: "fetch",
    description: "Brings files from elsewhere.",
    input: z.strictObject({}),
    effect: "once",
    async run(_, { workspace }) {
      const files = ["kept.txt", "changed.txt"].map((path) => {
        const content = new TextEncoder().encode(`${path} as it came`);
        return { path, content, sha256: new Bun.CryptoHasher("sha256").update(content).digest("hex") };
      });
      for (const { path, content, sha256 } of files) {
        await saveFile(workspace, path, content);
        await recordBaseline(workspace, { root: path, files: [{ path, sha256 }] }, () => new Blob([content]));
      }
      return "fetched";
    },
  });
  await using agent = await agentForTest({
    script: [call("fetch", {}), call("write", { files: { "changed.txt": "of our own" } }), { text: "Done." }],
    tools: [fetch, write],
  });
  const { events } = await agent.run("Fetch.");
  expect(artifacts(events).map(({ name }) => name)).toEqual(["changed.txt", "answer"]);
});

test("what git ignores in a project is an artifact only if the answer names it", async () => {
  const unpack = defineTool({
    name: "unpack",
    description: "Unpacks a project.",
    input: z.strictObject({}),
    effect: "once",
    async run(_, { workspace }) {
      const text = "target/\ndist/\n";
      await saveFile(workspace, "proj/.gitignore", Buffer.from(text));
      const files = [{ path: "proj/.gitignore", sha256: sha256Of(text) }];
      await recordBaseline(workspace, { root: "proj", files }, () => new Blob());
      return "unpacked";
    },
  });
  const files = { "proj/src/a.c": "a", "proj/target/a.o": "o", "proj/dist/a.tgz": "t", "target/b": "b" };
  await using agent = await agentForTest({
    script: [call("unpack", {}), call("write", { files }), { text: "Built dist/a.tgz." }],
    tools: [unpack, write],
  });
  const { events } = await agent.run("Build it.");
  expect(artifacts(events).map(({ name }) => name)).toEqual(["target/b", "proj/dist/a.tgz", "proj/src/a.c", "answer"]);
});

test("a file the user sent is not an artifact even if its arrival was not recorded", async () => {
  const forget = defineTool({
    name: "forget",
    description: "Leaves the workspace as a server from before arrivals were remembered did.",
    input: z.strictObject({}),
    effect: "once",
    async run(_, { workspace }) {
      await rm(join(workspace.metaRoot, "pristine"), { recursive: true });
      return "forgotten";
    },
  });
  await using agent = await agentForTest({ script: [call("forget", {}), { text: "Done." }], tools: [forget] });
  const file = await agent.artifacts.put(new TextEncoder().encode("hello"), { name: "in.txt" });
  const { events } = await agent.run("Read it.", { parts: [{ type: "file", ...file }] });
  expect(artifacts(events).map(({ name }) => name)).toEqual(["answer"]);
});

test("of many files fifty are returned, none larger than 100 MB, and none that would take effect elsewhere", async () => {
  const make = defineTool({
    name: "make",
    description: "Makes files of certain sizes.",
    input: z.strictObject({}),
    effect: "once",
    async run(_, { workspace }) {
      const sized = async (name: string, bytes: number) => {
        await using file = await open(join(workspace.root, name), "w");
        await file.truncate(bytes);
      };
      await sized("0-largest", 100 * 1024 * 1024);
      await sized("0-too-large", 100 * 1024 * 1024 + 1);
      await sized(".bashrc", 1);
      for (let n = 1; n <= 50; n++) await sized(`n${n}`, n);
      return "made";
    },
  });
  await using agent = await agentForTest({ script: [call("make", {}), { text: "Done." }], tools: [make] });
  const { events } = await agent.run("Make.");
  const names = artifacts(events).map(({ name }) => name);
  expect(names).toEqual(["0-largest", ...Array.from({ length: 49 }, (_, n) => `n${n + 1}`), "answer"]);
}, 60_000);

test("what an agent adds at the end comes after the files, and knows what the task made and removed", async () => {
  const seen: object[] = [];
  const swap = defineTool({
    name: "swap",
    description: "Replaces one file by another.",
    input: z.strictObject({}),
    effect: "once",
    async run(_, { workspace }) {
      await rm(join(workspace.root, "old.txt"));
      await saveFile(workspace, "new.txt", new TextEncoder().encode("new"));
      return "swapped";
    },
  });
  await using agent = await agentForTest({
    script: [call("swap", {}), { text: "Done." }],
    tools: [swap],
    agent: {
      finish: async (_, changes) => {
        seen.push(changes);
        return [{ name: "changes.patch", mediaType: "text/x-diff", content: "+new" }];
      },
    },
  });
  await writeFile(await agent.workspace.resolve("old.txt"), "old");
  const { events } = await agent.run("Swap.");
  expect(seen).toEqual([{ made: ["new.txt"], removed: ["old.txt"] }]);
  expect(artifacts(events).map(({ name }) => name)).toEqual(["new.txt", "changes.patch", "answer"]);
});

test.each([
  [[call("terminate", { status: "success", summary: "S" })], ["answer"], undefined],
  [[call("terminate", { status: "failure", summary: "No way." })], [], "No way."],
  [
    [{ text: "So far.", ...call("terminate", { status: "failure", summary: "No way." }) }],
    ["partial-answer"],
    "No way.",
  ],
  [[{ text: "No way.", ...call("terminate", { status: "failure", summary: "No way." }) }], [], "No way."],
  [[call("terminate", { status: "failure", summary: "" })], [], "The agent gave up without saying why."],
])("what a task leaves and why it failed: %#", async (script, names, reason) => {
  await using agent = await agentForTest({ script, tools: [terminate] });
  const { record, events } = await agent.run("Go.");
  expect(artifacts(events).map(({ name }) => name)).toEqual(names);
  expect(record.error?.message).toBe(reason as string);
});

test("who ends a task with success and no summary is answered for by its newest words, blank ones aside", async () => {
  const ends = { name: "terminate", args: { status: "success", summary: " " } };
  await using agent = await agentForTest({
    script: [
      { text: "It is 42.", calls: [{ name: "write", args: { files: { "a.txt": "a" } } }] },
      { text: " ", calls: [ends] },
    ],
    tools: [write, terminate],
  });
  expect((await agent.run("Go.")).record.output).toEqual({ answer: "It is 42." });
});

test("what a task that failed had reached says, as an answer does, what had been taken in for it", async () => {
  const read = defineTool({
    name: "read",
    description: "Reads.",
    input: z.strictObject({}),
    effect: "pure",
    brings: ["shop.example"],
    run: async () => "a price",
  });
  const gaveUp = call("terminate", { status: "failure", summary: "No way." });
  await using agent = await agentForTest({
    script: [call("read", {}), { text: "So far.", ...gaveUp }],
    tools: [read, terminate],
  });
  const { events } = await agent.run("Go.");
  expect(artifacts(events)).toMatchObject([{ name: "partial-answer", takenIn: ["shop.example"] }]);
});
