import { join } from "node:path";
import * as z from "zod";
import { createKeyedQueue } from "../../core/async/keyed-queue.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { readJson, writeJson } from "../../machine/workspace/own-files/json-file.ts";
import { carryOut, emptyBook, planBookSchema, planCommand } from "./plan-book.ts";

/**
 * How many of the newest calls are remembered, so that a call repeated after a crash gets its
 * result without being executed again.
 */
const rememberedCalls = 50;

const keptPlans = z.strictObject({
  book: planBookSchema,
  calls: z.array(z.strictObject({ key: z.string(), text: z.string() })),
});

const reading = ["list", "get"];

/**
 * The tool that agents make and track plans with. Plans belong to the conversation and outlive the
 * process.
 */
export function createPlanning(): Tool {
  const queue = createKeyedQueue();
  return defineTool({
    name: "planning",
    description: "Keeps the plan of a task with several parts: its steps, each marked as it starts and ends.",
    input: planCommand,
    effect: ({ command }) => (reading.includes(command) ? "pure" : "idempotent"),
    brings: [],
    run: (input, { workspace, key }) =>
      queue(workspace.metaRoot, async () => {
        const path = fileOf(workspace);
        const { book, calls } = (await readJson(path, keptPlans)) ?? { book: emptyBook, calls: [] };
        const done = calls.find((call) => call.key === key);
        if (done !== undefined) return done.text;
        const { book: after, ...shown } = carryOut(book, input, idFrom(key));
        if (reading.includes(input.command)) return { ...shown, isError: false };
        const remembered = [...calls, { key, text: shown.text }].slice(-rememberedCalls);
        await writeJson(path, { book: after, calls: remembered } satisfies z.input<typeof keptPlans>);
        return { ...shown, isError: false };
      }),
  });
}

function fileOf(workspace: Workspace): string {
  return join(workspace.metaRoot, "plans.json");
}

function idFrom(key: string): string {
  return `plan_${sha256Of(key).slice(0, 8)}`;
}
