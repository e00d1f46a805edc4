import * as z from "zod";
import { AppError } from "../core/errors.ts";
import { memoryKinds, presentRecalled, sourcesOfMemory, sourcesOfOthers } from "../core/memory.ts";
import { foreignTask, type TakenIn } from "../core/taken-in.ts";
import { defineTool } from "../core/tools/define-tool.ts";
import type { Tool, ToolResult } from "../core/tools/tool.ts";
import type { MemoryStore } from "./memory-store.ts";

/** The tool with which an agent keeps entries for later conversations. */
export const memoryToolName = "memory";

const input = z.strictObject({
  command: z.enum(["save", "search", "forget"]),
  text: z.string().min(1).max(20_000).optional().describe("What to save, in one sentence, or to search for."),
  kind: z.enum(memoryKinds).optional(),
  id: z.string().min(1).max(40).optional().describe("The entry that save replaces, or that forget removes."),
});

type MemoryInput = z.output<typeof input>;

const maxFound = 20;

/** The tool over this principal's memory. */
export function memoryTool(store: MemoryStore, principal: string): Tool {
  return defineTool({
    name: memoryToolName,
    description:
      "What you remember about the user for later conversations, as entries. Save what stays true and they would want kept: a fact, a preference, how something is done here; nothing secret.",
    input,
    effect: ({ command }) => (command === "search" ? "pure" : "idempotent"),
    parallel: false,
    // A page that could write here would give orders to all later conversations.
    alwaysJudged: true,
    brings: [],
    risk: async (call, { takenIn }) => riskOf(call, takenIn),
    async run(call, { takenIn = [foreignTask] }): Promise<ToolResult> {
      const { command } = call;
      if (command === "search") return search(store, principal, call);
      if (command === "forget") {
        const id = needed(call, "id");
        await store.remove(principal, id);
        return said(`Forgotten: [${id}].`);
      }
      const text = needed(call, "text");
      const sources = sourcesOfOthers(takenIn);
      const { id, kind } = call;
      const entry =
        id === undefined
          ? await store.add(principal, { text, kind: kind ?? "fact", by: "agent", sources })
          : await store.edit(principal, id, { text, ...(kind && { kind }), by: "agent", sources });
      return said(`Saved as [${entry.id}] (${entry.kind}).`);
    },
  });
}

/** Nobody but the user and the model had a say, or a person has to allow exactly this. */
function riskOf({ command, text = "", id }: MemoryInput, takenIn: TakenIn): string | undefined {
  const others = sourcesOfOthers(takenIn);
  if (command === "search" || others.length === 0) return undefined;
  const after = `after this task has read what others wrote (${others.slice(0, 8).join(", ")})`;
  if (command === "forget") return `Forget the entry ${JSON.stringify(id)} in your memory, ${after}`;
  const over = id === undefined ? "" : ` in place of the entry ${JSON.stringify(id)}`;
  return `Keep this in your memory${over} for all later conversations, ${after}: ${JSON.stringify(text)}`;
}

/** The entries that have these words, or the newest; of one kind, if it is given. */
async function search(store: MemoryStore, principal: string, { text, kind }: MemoryInput): Promise<ToolResult> {
  const all = text === undefined ? await store.list(principal) : await store.search(principal, text, maxFound);
  const found = all.filter((entry) => kind === undefined || entry.kind === kind).slice(0, maxFound);
  if (found.length === 0)
    return said(
      text === undefined ? "There are no such entries." : "No entry has these words. Leave out text to list all.",
    );
  return { text: presentRecalled(found), isError: false, takenIn: sourcesOfMemory(found) };
}

function needed(call: MemoryInput, field: "text" | "id"): string {
  const value = call[field];
  if (value === undefined) throw new AppError("invalid_input", `${call.command} needs \`${field}\`.`);
  return value;
}

function said(text: string): ToolResult {
  return { text, isError: false };
}
