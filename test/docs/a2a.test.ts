import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventTypes } from "manyhands/internal/core/events/events";
import { freePort } from "manyhands/internal/http/free-port";
import type { ScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { type AgentServer, startManus } from "../servers/manus-server.ts";
import { startGuideModel } from "./guide-model.ts";
import { type Block, blocksOf, codesIn, readGuide, rowsOf } from "./markdown.ts";
import { curl, run } from "./run-example.ts";
import { shows } from "./shows.ts";

const token = "long-enough";
const guide = await readGuide("a2a.md");
const blocks = blocksOf(guide);

let model: ScriptedModel;
let folder: string;
const servers: AgentServer[] = [];

async function started(name: string, env: Record<string, string>): Promise<AgentServer> {
  const home = await mkdtemp(join(folder, `${name}-`));
  await chmod(home, 0o711);
  const server = startManus({
    ...env,
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: model.url,
    MANYHANDS_MODEL: "scripted",
  });
  servers.push(server);
  await server.ready;
  return server;
}

let open: AgentServer;
let guarded: AgentServer;
beforeAll(async () => {
  model = await startGuideModel();
  folder = await mkdtemp(join(tmpdir(), "manyhands-docs-"));
  await chmod(folder, 0o711);
  [open, guarded] = await Promise.all([started("open", {}), started("guarded", { MANYHANDS_TOKEN: token })]);
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await model.close();
  await rm(folder, { recursive: true });
});

/** An example as printed, with our server in place of the one at its port. */
function against({ text }: Block): string {
  const { host } = new URL((text.includes("Bearer") ? guarded : open).url);
  return text.replaceAll("localhost:4101", host);
}

test("every shell example gives the output the guide shows", async () => {
  const examples = blocks.flatMap((block, index) =>
    block.language === "sh" ? [[block, blocks[index + 1]] as const] : [],
  );
  expect(examples.length).toBeGreaterThan(8);
  let task = "";
  for (const [example, shown] of examples) {
    const out = await run(["bash", "-e"], curl + against(example), { TASK: task });
    expect({ line: example.line, language: shown?.language }).toEqual({
      line: example.line,
      language: expect.stringMatching(/^(json|text)$/),
    });
    if (!shows(shown?.text ?? "", out)) throw new Error(`a2a.md, line ${example.line} answers:\n${out}`);
    task = /"task":\{"id":"([^"]+)"/.exec(out)?.[1] ?? task;
  }
});

test("the TypeScript example runs as printed", async () => {
  const example = blocks.find(({ language }) => language === "ts");
  if (example === undefined) throw new Error("there is none");
  const out = await run([process.execPath, "-"], against(example), {});
  expect(out).toContain("There are 168 primes below 1000.");
});

test("the table of events names every type of an agent's run, with its fields", async () => {
  const events = await readGuide("events.md");
  const told = Object.keys(eventTypes);
  const rows = rowsOf(events).map(([types, fields]) => [codesIn(types), codesIn(fields)] as const);
  expect(rows.flatMap(([types]) => types)).toEqual(expect.arrayContaining(told));
  for (const [type, { schema }] of Object.entries(eventTypes)) {
    // `run-resumed`, which has none, is in the row of `run-paused`.
    const fields = rows.find(([[first]]) => first === type)?.[1];
    const defined = Object.entries(schema.shape).map(([name, field]) => `${name}${field._zod.optin ? "?" : ""}`);
    if (type !== "run-resumed") expect([type, fields?.toSorted()]).toEqual([type, defined.toSorted()]);
  }
});
