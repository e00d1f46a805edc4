import { AppError } from "manyhands/internal/core/errors";
import { type MemoryEntry, memoryKinds } from "manyhands/internal/core/memory";
import type { MemoryStore } from "manyhands/internal/memory/memory-store";
import * as z from "zod";
import type { EndpointAbout, endpoint, RestEndpoint } from "../endpoint.ts";
import { personalEndpoint } from "../personal-endpoint.ts";

/** What the memory routes need. */
export type MemoryRoutesDeps = {
  /** The store, opened when it is first asked for. */
  open(): Promise<MemoryStore>;
  /** Whether agents use the memory of this principal. */
  isOn(principal: string): boolean;
};

const kind = z.enum(memoryKinds);
const text = z.string().min(1).max(20_000);
const isPublic = z
  .boolean()
  .describe("Anybody may know it: recalling it makes no task private. Only you can say so, never an agent.");

const entrySchema = z
  .object({
    id: z.string(),
    kind,
    text: z.string(),
    by: z.enum(["agent", "person"]).describe("Who wrote it as it is now."),
    sources: z.array(z.string()).describe("What the task that wrote it had read of others; you allowed it then."),
    public: isPublic,
    createdAt: z.iso.datetime(),
    changedAt: z.iso.datetime(),
  })
  .meta({ id: "MemoryEntry" });

const params = z.object({ id: z.string().min(1).max(40) });
const one = { description: "The entry.", body: entrySchema };

/** `/memory` and the routes below it: what is remembered for the caller. */
export function memoryRoutes(deps: MemoryRoutesDeps): RestEndpoint[] {
  return [...readingRoutes(deps), ...changingRoutes(deps)];
}

function readingRoutes({ open, isOn }: MemoryRoutesDeps): RestEndpoint[] {
  const list = {
    method: "get",
    path: "/memory",
    summary: "What is remembered for you across conversations",
    request: { query: z.object({ q: z.string().max(2_000).exactOptional().describe("Words to look for.") }) },
    answers: {
      200: {
        description: "The entries, the last changed first; with `q` the best first.",
        body: z.object({
          on: z.boolean().describe("Whether agents use your memory: `[memory] principals` names you."),
          entries: z.array(entrySchema),
        }),
      },
    },
    problems: [],
  } as const;
  const show = {
    method: "get",
    path: "/memory/{id}",
    summary: "One entry of your memory",
    request: { params },
    answers: { 200: one },
    problems: [404],
  } as const;
  return [
    ownEndpoint(list, async ({ query: { q } }, c) => {
      const { principal } = c.get("caller");
      const store = await open();
      const found = q === undefined ? await store.list(principal) : await store.search(principal, q, maxFound);
      return c.json({ on: isOn(principal), entries: found.map(shown) });
    }),
    ownEndpoint(show, async ({ params: { id } }, c) =>
      c.json(shown(await (await open()).get(c.get("caller").principal, id))),
    ),
  ];
}

const maxFound = 100;

function changingRoutes({ open, isOn }: MemoryRoutesDeps): RestEndpoint[] {
  const add = {
    method: "post",
    path: "/memory",
    summary: "Remembers something for you",
    request: { body: z.strictObject({ text, kind: kind.default("fact"), public: isPublic.default(false) }) },
    answers: { 201: one },
    problems: [409, 413],
  } as const;
  const edit = {
    method: "post",
    path: "/memory/{id}",
    summary: "Changes an entry; what is left out stays",
    request: {
      params,
      body: z.strictObject({
        text: text.exactOptional(),
        kind: kind.exactOptional(),
        public: isPublic.exactOptional(),
      }),
    },
    answers: { 200: one },
    problems: [404, 413],
  } as const;
  const remove = {
    method: "delete",
    path: "/memory/{id}",
    summary: "Removes an entry, from the disk too",
    description: "Runs that recalled it, and backups, keep it until they are deleted.",
    request: { params },
    answers: { 204: { description: "Removed." } },
    problems: [404],
  } as const;
  const clear = {
    method: "delete",
    path: "/memory",
    summary: "Removes everything that is remembered for you",
    request: {},
    answers: { 200: { description: "How many entries there were.", body: z.object({ removed: z.int() }) } },
    problems: [],
  } as const;
  return [
    ownEndpoint(add, async ({ body: { public: isPublic, ...entry } }, c) => {
      const { principal } = c.get("caller");
      if (!isOn(principal))
        throw new AppError("conflict", "You have no memory here: [memory] principals does not name you.");
      return c.json(shown(await (await open()).add(principal, { ...entry, isPublic, by: "person" })), 201);
    }),
    ownEndpoint(edit, async ({ params: { id }, body: { public: isPublic, ...change } }, c) => {
      const { principal } = c.get("caller");
      const all = { ...change, ...(isPublic !== undefined && { isPublic }), by: "person" as const };
      return c.json(shown(await (await open()).edit(principal, id, all)));
    }),
    ownEndpoint(remove, async ({ params: { id } }, c) => {
      await (await open()).remove(c.get("caller").principal, id);
      return c.body(null, 204);
    }),
    ownEndpoint(clear, async (_, c) => c.json({ removed: await (await open()).clear(c.get("caller").principal) })),
  ];
}

const refusals = {
  ofRuns: "The memory belongs to its principal; a run uses the tool `memory`.",
  ofPages: "Of all web pages, only the console may read and change the memory.",
};

/** A page that leads an agent must not write what later tasks recall. */
function ownEndpoint<Given extends EndpointAbout["request"]>(
  about: Omit<EndpointAbout, "request" | "scope" | "tag"> & { readonly request: Given },
  run: Parameters<typeof endpoint<Given>>[1],
): RestEndpoint {
  return personalEndpoint<Given>({ ...about, tag: "memory" }, refusals, run);
}

function shown({ isPublic, createdAt, changedAt, sources, ...entry }: MemoryEntry) {
  const dated = (at: number) => new Date(at).toISOString();
  return {
    ...entry,
    sources: [...sources],
    public: isPublic,
    createdAt: dated(createdAt),
    changedAt: dated(changedAt),
  };
}
