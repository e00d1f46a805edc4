import { expect, test } from "bun:test";
import type { Tool, ToolContext, ToolResult } from "../../../core/tools/tool.ts";
import type { Browsing } from "../../../machine/browser/browser.ts";
import type { Secrets } from "../../../machine/secrets/secrets.ts";
import { contextForTest, riskContextForTest } from "../../../testing/tool-context.ts";
import { hidingSecrets, secretShown } from "./hide-secrets.ts";

const value = "hunter-two";
const isIn = (text: string) => text.includes(value);
const secrets = {
  hasTyped: () => true,
  redact: (text: string) => text.replaceAll(value, "[secret bank]"),
  heldIn: (text: string) => (isIn(text) ? "bank" : undefined),
} as unknown as Secrets;

const workspace = {
  root: "/nowhere",
  spill: async (name: string, content: string | Uint8Array) => `${name}: ${typeof content}: ${content}`,
} as unknown as ToolContext["workspace"];

/** A tool that says the value wherever a result, its context or a risk has words. */
function telling(told: string[], result: Partial<ToolResult> = {}): Tool {
  return {
    name: "tell",
    description: `Tells.`,
    risk: async () => `It says “${value}”.`,
    async call(_: unknown, { workspace, progress, ask }: ToolContext) {
      progress(`at ${value}`);
      await ask({ system: "", text: `what is ${value}?` } as never);
      told.push(await workspace.spill("a.txt", `kept ${value}`));
      told.push(await workspace.spill("a.bin", Buffer.from(value)));
      return { text: `said ${value}`, isError: false, ...result };
    },
  } as unknown as Tool;
}

test("nothing that a model reads of a call holds a secret: result, what stands in for it later, progress, questions, files, risk", async () => {
  const told: string[] = [];
  const result = {
    takenIn: ["web"],
    shows: { of: "browser page", whole: "hash", brief: `in short ${value}`, again: `as ${value} above` },
    end: { status: "success", summary: `done with ${value}`, data: 7 },
  } as const;
  const tool = hidingSecrets(telling(told, result), secrets);
  const asked: string[] = [];
  const context = {
    ...contextForTest(workspace),
    progress: (text: string) => void told.push(text),
    ask: async ({ text }: { text: string }) => {
      asked.push(text);
      return "";
    },
  } as unknown as ToolContext;
  expect(await tool.call({}, context)).toEqual({
    text: "said [secret bank]",
    isError: false,
    takenIn: ["web"],
    shows: {
      of: "browser page",
      whole: "hash",
      brief: "in short [secret bank]",
      again: "as [secret bank] above",
    },
    end: { status: "success", summary: "done with [secret bank]", data: 7 },
  });
  expect(asked).toEqual(["what is [secret bank]?"]);
  // Bytes stay as they are: they are a file, not words.
  expect(told).toEqual(["at [secret bank]", "a.txt: string: kept [secret bank]", `a.bin: object: ${value}`]);
  expect(await tool.risk?.({}, riskContextForTest(workspace))).toBe("It says “[secret bank]”.");
});

test("a result without an end, something shown or a risk has none afterwards either", async () => {
  const { risk: _, ...plain } = telling([]);
  const tool = hidingSecrets(plain as Tool, secrets);
  expect(tool.risk).toBeUndefined();
  const context = { ...contextForTest(workspace), ask: async () => "" } as unknown as ToolContext;
  expect(Object.keys(await tool.call({}, context)).toSorted()).toEqual(["isError", "text"]);
});

test("only once a secret was typed is one looked for, and a frame that does not answer counts as one that shows it", async () => {
  const page = (...frames: unknown[]) =>
    ({ active: () => ({ page: { frames: () => frames } }) }) as unknown as Browsing;
  const silent = { isDetached: () => false, page: () => page() };
  const untyped = { ...secrets, hasTyped: () => false };
  expect(await secretShown(page(silent), untyped)).toBeUndefined();
  expect(await secretShown(page({ ...silent, isDetached: () => true }), secrets)).toBeUndefined();
  expect(await secretShown(page(silent), secrets)).toBe("(the page did not answer)");
  expect(await secretShown(page({ ...silent, isDetached: () => true }, silent), secrets)).toBe(
    "(the page did not answer)",
  );
});

test("a tool that hides secrets has the description that it has by then", () => {
  const tool = { name: "delegate", description: "Asks one agent." };
  const hiding = hidingSecrets(tool as unknown as Tool, secrets);
  tool.description = "Asks two agents.";
  expect(hiding.description).toBe("Asks two agents.");
});
