import { hasMemory } from "manyhands/internal/config/storage/memory-config";
import { AppError } from "manyhands/internal/core/errors";
import { type MemoryEntry, memoryKinds } from "manyhands/internal/core/memory";
import { isMemoryKind, type MemoryStore } from "manyhands/internal/memory/memory-store";
import { openMemoryStore } from "manyhands/internal/server/storage/open-memory";
import { openShared } from "manyhands/internal/server/storage/open-shared";
import type { CliContext } from "../../session/context.ts";
import { exitCodes } from "../../terminal/exit-code.ts";
import { safeLine, safeText } from "../../terminal/safe-text.ts";
import { paint } from "../../terminal/style.ts";

/** Options of every `memory` command; the principal is `local` unless it is named. */
export type MemoryOptions = { readonly config?: string; readonly json?: boolean; readonly principal: string };

type Changes = { readonly kind?: string; readonly public?: boolean };

/** Lists what is remembered, or what of it has these words. */
export async function listMemory(
  options: MemoryOptions & { readonly find?: string },
  context: CliContext,
): Promise<number> {
  return withMemory(options, context, async (store, { isOn }) => {
    const { principal, find } = options;
    const entries = find === undefined ? await store.list(principal) : await store.search(principal, find, 100);
    const { terminal } = context;
    if (options.json) return terminal.out(`${JSON.stringify(entries.map(plain), undefined, 2)}\n`);
    for (const { id, kind, text, isPublic } of entries) {
      const facts = paint(terminal.style, "dim", `${kind}${isPublic ? ", public" : ""}`.padEnd(18));
      terminal.out(`${paint(terminal.style, "bold", id)}  ${facts}  ${safeLine(text, terminal.style.columns - 32)}\n`);
    }
    if (entries.length === 0) terminal.say("Nothing is remembered.");
    if (!isOn) terminal.say(`Agents use no memory for ${principal}: [memory] principals does not name it.`);
  });
}

/** Shows one entry whole. */
export async function showMemory(id: string, options: MemoryOptions, context: CliContext): Promise<number> {
  return withMemory(options, context, async (store) => {
    const entry = await store.get(options.principal, id);
    const { terminal } = context;
    if (options.json) return terminal.out(`${JSON.stringify(plain(entry), undefined, 2)}\n`);
    const { kind, by, sources, isPublic, createdAt, changedAt, text } = entry;
    const facts = [
      ["Kind", kind],
      ["Written by", by],
      ["After reading", sources.join(", ")],
      ["Public", isPublic ? "yes" : "no"],
      ["Created", new Date(createdAt).toISOString()],
      ["Changed", new Date(changedAt).toISOString()],
    ] as const;
    for (const [label, value] of facts)
      if (value !== "") terminal.out(`${label}: ${safeLine(value, Number.POSITIVE_INFINITY)}\n`);
    terminal.out(`\n${safeText(text)}\n`);
  });
}

/** Remembers a text. */
export async function addMemory(text: string, options: MemoryOptions & Changes, context: CliContext): Promise<number> {
  return withMemory(options, context, async (store, { isOn }) => {
    const { principal, kind = "fact", public: isPublic = false } = options;
    const entry = await store.add(principal, { text, kind: checkedKind(kind), isPublic, by: "person" });
    if (options.json) context.terminal.out(`${JSON.stringify(plain(entry))}\n`);
    else context.terminal.say(`Remembered as ${entry.id}.`);
    if (!isOn) context.terminal.say(`Agents use no memory for ${principal}: [memory] principals does not name it.`);
  });
}

/** Changes an entry; what is not given stays. */
export async function editMemory(
  id: string,
  text: string | undefined,
  options: MemoryOptions & Changes,
  context: CliContext,
): Promise<number> {
  const { kind, public: isPublic } = options;
  if (text === undefined && kind === undefined && isPublic === undefined)
    throw new AppError("invalid_input", "Say what changes: a text, --kind, --public or --no-public.");
  return withMemory(options, context, async (store) => {
    const change = {
      ...(text !== undefined && { text }),
      ...(kind !== undefined && { kind: checkedKind(kind) }),
      ...(isPublic !== undefined && { isPublic }),
    };
    await store.edit(options.principal, id, { ...change, by: "person" });
    context.terminal.say(`Changed ${id}. What it was is removed from the disk.`);
  });
}

/** Removes an entry. */
export async function removeMemory(id: string, options: MemoryOptions, context: CliContext): Promise<number> {
  return withMemory(options, context, async (store) => {
    await store.remove(options.principal, id);
    context.terminal.say(`Removed ${id}. ${inRuns}`);
  });
}

/** Removes everything that is remembered for a principal. */
export async function clearMemory(
  options: MemoryOptions & { readonly yes?: boolean },
  context: CliContext,
): Promise<number> {
  if (options.yes !== true)
    throw new AppError("invalid_input", `This removes all that is remembered for ${options.principal}: add --yes.`);
  return withMemory(options, context, async (store) => {
    const removed = await store.clear(options.principal);
    context.terminal.say(`Removed ${removed === 1 ? "1 entry" : `${removed} entries`}. ${inRuns}`);
  });
}

const inRuns = "Runs that recalled it, and backups, keep it until they are deleted.";

function checkedKind(kind: string) {
  if (isMemoryKind(kind)) return kind;
  throw new AppError("invalid_input", `An entry is a ${memoryKinds.join(", a ")}, not ${JSON.stringify(kind)}.`);
}

function plain({ createdAt, changedAt, isPublic, ...entry }: MemoryEntry) {
  const dated = (at: number) => new Date(at).toISOString();
  return { ...entry, public: isPublic, createdAt: dated(createdAt), changedAt: dated(changedAt) };
}

async function withMemory(
  { config: file, principal }: MemoryOptions,
  { configure }: CliContext,
  work: (store: MemoryStore, use: { readonly isOn: boolean }) => Promise<unknown>,
): Promise<number> {
  const config = await configure(file);
  const shared = await openShared(config);
  try {
    const store = openMemoryStore(config, shared);
    try {
      await work(store, { isOn: hasMemory(config.memory, principal) });
      return exitCodes.ok;
    } finally {
      await store.close();
    }
  } finally {
    await shared.close();
  }
}
