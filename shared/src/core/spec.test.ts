import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent } from "../agent/define-agent.ts";
import { defineFlow } from "./flow.ts";
import { nameFault } from "./spec.ts";
import { defineTool } from "./tools/define-tool.ts";

const agent = { name: "a", description: "", instructions: "", tools: [] };

/** Runs a module that only defines and serves an agent with this spec, until it exits. */
async function ended(spec: string) {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-spec-"));
  const file = join(folder, "agent.ts");
  const shared = join(import.meta.dir, "../..");
  await Bun.write(
    file,
    `import { defineAgent, defineTool, serveAgent } from ${JSON.stringify(join(shared, "src/public/manyhands.ts"))};
     import { files } from ${JSON.stringify(join(shared, "src/public/tools.ts"))};
     await serveAgent(defineAgent({ name: "concierge", description: "Plans.", instructions: "Plan.", tools: [], ...(${spec}) }));`,
  );
  const child = Bun.spawn([process.execPath, file], { cwd: folder, stdout: "pipe", stderr: "pipe" });
  const [said, exitCode] = await Promise.all([child.stderr.text(), child.exited]);
  await rm(folder, { recursive: true });
  return { said, exitCode };
}

test("a wrong definition ends its module with one sentence and exit code 2, without a stack", async () => {
  for (const [spec, sentence] of [
    ["{ name: undefined }", "An agent needs a name."],
    [
      '{ name: "My Agent" }',
      'An agent\'s name is lower-case words with dashes, at most 60 characters; "My Agent" is not.',
    ],
    [
      "{ tools: [files] }",
      "The agent concierge: item 1 of its tools is not a tool. Call tool families, as in files().",
    ],
    ["{ tools: undefined }", "The agent concierge needs a list of tools, which may be empty."],
    [
      '{ tools: [defineTool({ name: "two words" })] }',
      'A tool\'s name is made of letters, digits, _ and -, at most 64; "two words" is not.',
    ],
  ] as const)
    expect(await ended(spec)).toEqual({ said: `${sentence}\n`, exitCode: 2 });
});

test("a caught definition error has no further effect on the process", async () => {
  const listeners = process.listenerCount("uncaughtException");
  expect(() => defineAgent({ ...agent, name: "My Agent" })).toThrow("lower-case words");
  await Bun.sleep(5);
  expect(process.listenerCount("uncaughtException")).toBe(listeners);
});

test("a definition error of a tool or a flow is one sentence", () => {
  const tool = defineTool as (spec: object) => unknown;
  const flow = defineFlow as (spec: object) => unknown;
  expect(() => tool({})).toThrow("A tool's name is made of");
  expect(() => tool({ name: "t", description: "" })).toThrow("The tool t needs a Zod object as its input");
  expect(() => flow({})).toThrow("A flow needs a name.");
  expect(() => flow({ name: "f", description: "" })).toThrow("The flow f needs an example with a text");
});

test("a flow's title, version, skill and options have defaults", async () => {
  const { title, version, skills, options } = defineFlow({
    name: "second-opinion",
    description: "Asks twice.",
    example: { text: "Is it so?" },
    perform: async () => ({ answer: "" }),
  });
  expect([title, version, options.safeParse({ x: 1 }).success]).toEqual(["Second Opinion", "0.1.0", false]);
  expect(skills).toMatchObject([{ id: "second-opinion", description: "Asks twice.", examples: ["Is it so?"] }]);
});

test("a name has at most 60 characters, in lower-case words with dashes", () => {
  for (const [name, fits] of [
    ["a".repeat(60), true],
    ["a".repeat(61), false],
    ["a-1", true],
    ["a--b", false],
    ["-a", false],
    ["1a", false],
  ] as const)
    expect([name, nameFault("An agent", name) === undefined]).toEqual([name, fits]);
});
