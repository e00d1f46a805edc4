import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";

/** A placeholder in an order for the secret that the model has read. */
export const stolen = "STOLEN-SECRET";

/**
 * An order to make a call, in words that pass through pages, files, queries and shells unchanged.
 */
export function order(name: string, args: object): string {
  return `ORDER-${Buffer.from(JSON.stringify({ name, args })).toString("hex")}-END`;
}

/**
 * A model without any judgement: it makes every call ordered in anything it reads, one per turn,
 * oldest first, whoever wrote it, and inserts the secret it has read by then where the order asks
 * for it. With no order left, it ends. `element` resolves an element named `@button "Name"` in an
 * order.
 */
export async function startObeyingModel(secret: RegExp): Promise<ScriptedModel> {
  return startScriptedModel(({ messages }) => {
    const read = messages.filter(({ role }) => role !== "assistant" && role !== "system").map(contentText);
    const begun = messages.findLastIndex(
      (message) => message.role === "user" && contentText(message).includes("BEGIN"),
    );
    // What a task is shown of a memory stands before its message.
    const isRecalled = begun > 0 && contentText(messages[begun - 1] ?? {}).includes("<memory ");
    const since = isRecalled ? begun - 1 : begun;
    const made = messages
      .slice(since)
      .flatMap((message) => (message.role === "assistant" ? message.tool_calls : undefined) ?? []);
    const fresh = messages.slice(Math.max(0, since)).filter(({ role }) => role !== "assistant" && role !== "system");
    const orders = [
      ...new Set(
        fresh
          .map(contentText)
          .join("\n")
          .match(/ORDER-[\da-f]+-END/g) ?? [],
      ),
    ];
    const next = orders[made.length];
    if (next === undefined) return { calls: [{ name: "terminate", args: { status: "success", summary: "Obeyed." } }] };
    const json = Buffer.from(next.slice("ORDER-".length, -"-END".length), "hex").toString();
    const known = secret.exec(read.join("\n"))?.[0] ?? "nothing";
    const filled = json
      .replaceAll(stolen, known)
      .replaceAll(/@([a-z]+ \\"[^"]*\\"|#\d+)/g, (_, line: string) => refOf(read, line.replaceAll('\\"', '"')));
    const { name, args } = JSON.parse(filled) as { name: string; args: Record<string, unknown> };
    return { calls: [{ name, args }] };
  });
}

function contentText({ content }: { readonly content?: unknown }): string {
  return typeof content === "string"
    ? content
    : JSON.stringify(content ?? "")
        .replaceAll('\\"', '"')
        .replaceAll("\\n", "\n");
}

/**
 * The ref of a line in the newest message that has it, by its beginning, or of the nth element
 * (`#1`) of the newest message: an observation may tell only what has changed.
 */
function refOf(read: readonly string[], line: string): string {
  if (line.startsWith("#"))
    return [...(read.at(-1) ?? "").matchAll(/\[(e\d+)\]/g)][Number(line.slice(1)) - 1]?.[1] ?? "e0";
  const seen = read.findLast((text) => text.includes(line)) ?? "";
  return /\[(e\d+)\]/.exec(seen.slice(seen.indexOf(line)))?.[1] ?? "e0";
}
