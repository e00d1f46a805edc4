import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { CallDeps } from "./call-run.ts";
import { runResources } from "./resources.ts";

const stored = (name: string) => ({ name, mediaType: "text/csv", size: 3, url: `http://x/artifacts/${name}` });
const viewOf = ({ id }: { readonly id: string }) => ({
  id,
  name: "swe",
  input: `Do\n  ${"it ".repeat(100)}`,
  updatedAt: "2026-01-02T03:04:05Z",
  files: [stored("shared.csv"), stored(`${id}.csv`)],
});

/** The resources of alice, who has the runs r1 and r2, beside bob's; and what was asked of them. */
function open(file: Blob | undefined = new Blob(["x"])) {
  const asked: unknown[][] = [];
  const runs = {
    async list(...all: unknown[]) {
      asked.push(all);
      const { cursor } = all[0] as { cursor?: string };
      return cursor === undefined
        ? { runs: [{ id: "r1" }, { id: "r2" }], nextCursor: "more" }
        : { runs: [{ id: "r3" }] };
    },
    view: async (run: { readonly id: string }) => viewOf(run),
    async own(id: string, principal: string) {
      if (id === "broken") throw new AppError("unavailable", "The database is away.");
      if (id !== "r1" || principal !== "alice") throw new AppError("not_found", "There is no such run.");
      return { id, lastEvent: 7 };
    },
  };
  const engine = {
    follow: (...all: unknown[]) => ({ followed: all }),
    hasFile: async (principal: string) => principal === "alice",
  };
  const artifacts = { get: async (sha256: string) => (sha256 === "b".repeat(64) ? undefined : file) };
  return { asked, resources: runResources({ runs, engine, artifacts } as unknown as CallDeps) };
}

test("runs and their files are listed a page at a time, each file once, for the principal who asks", async () => {
  const { asked, resources } = open();
  const first = await resources.list("alice", undefined);
  expect(first.nextCursor).toBe("more");
  expect(first.resources.map(({ uri }) => uri)).toEqual([
    ...["manyhands://runs/r1", "http://x/artifacts/shared.csv", "http://x/artifacts/r1.csv"],
    ...["manyhands://runs/r2", "http://x/artifacts/r2.csv"],
  ]);
  const second = await resources.list("alice", "more");
  expect([second.resources.length, "nextCursor" in second]).toEqual([3, false]);
  expect(asked).toEqual([
    [{ limit: 50 }, "alice"],
    [{ limit: 50, cursor: "more" }, "alice"],
  ]);
});

test("a run is listed with what it is about in one short line, and when it last changed; a file with its type and size", async () => {
  const [run, file] = (await open().resources.list("alice", undefined)).resources;
  const description = `Do ${"it ".repeat(100)}`.slice(0, 200);
  expect(run).toEqual({
    uri: "manyhands://runs/r1",
    name: "r1",
    title: "A run of swe",
    description,
    mimeType: "application/json",
    annotations: { lastModified: "2026-01-02T03:04:05Z" },
  });
  const { url: uri, mediaType: mimeType, ...rest } = stored("shared.csv");
  expect(file).toEqual({ uri, mimeType, description, ...rest });
});

test("a run is read and watched by its principal alone, from where it stands", async () => {
  const { resources } = open();
  const uri = "manyhands://runs/r1";
  const [read] = (await resources.read(uri, "alice")) ?? [];
  expect(read).toMatchObject({ uri, mimeType: "application/json" });
  expect(JSON.parse((read as { text: string }).text)).toEqual(viewOf({ id: "r1" }));
  const { signal } = new AbortController();
  expect(await resources.watch(uri, "alice", signal)).toEqual({ followed: ["r1", { after: 7, signal }] } as never);
  for (const [other, principal] of [
    [uri, "bob"],
    ["manyhands://runs/r%31", "alice"],
    ["manyhands://runs/r1/more", "alice"],
    ["manyhands://runs/r2", "alice"],
  ] as const) {
    expect([other, await resources.read(other, principal)]).toEqual([other, undefined]);
    expect([other, await resources.watch(other, principal, signal)]).toEqual([other, undefined]);
  }
  await expect(resources.read("manyhands://runs/broken", "alice")).rejects.toMatchObject({ code: "unavailable" });
});

test("a file can be watched, and never changes", async () => {
  const uri = `http://x/artifacts/${"a".repeat(64)}/a.txt`;
  const changes = await open().resources.watch(uri, "alice", new AbortController().signal);
  expect(changes && (await Array.fromAsync(changes))).toEqual([]);
});

test("a file that no run of the principal refers to is as one that was never stored", async () => {
  const uri = `http://x/artifacts/${"a".repeat(64)}/a.txt`;
  const { resources } = open();
  expect(await resources.read(uri, "bob")).toBeUndefined();
  expect(await resources.watch(uri, "bob", new AbortController().signal)).toBeUndefined();
});

test("the variable of the template is completed from the principal's own runs", async () => {
  const { asked, resources } = open();
  const [template] = resources.templates();
  expect(template).toMatchObject({ uriTemplate: "manyhands://runs/{run}", mimeType: "application/json" });
  const complete = (variable: string, typed: string) => resources.complete("", variable, typed, "alice");
  expect(await complete("run", "r")).toEqual(["r1", "r2"]);
  expect([await complete("run", "r2"), await complete("run", "2"), await complete("other", "r")]).toEqual([
    ["r2"],
    [],
    [],
  ]);
  expect(asked.every(([, principal]) => principal === "alice")).toBe(true);
});

test("a file is read as text or as bytes, by its name's type; one that is too large is to be fetched", async () => {
  const uri = `http://x/artifacts/${"a".repeat(64)}/a.csv`;
  const read = async (content: string | Uint8Array<ArrayBuffer> | { size: number }, at = uri) => {
    const file = content instanceof Object && "size" in content ? content : new Blob([content]);
    return open(file as Blob).resources.read(at, "alice");
  };
  const about = { uri, mimeType: "text/csv" };
  expect(await read("a;\u20ac")).toEqual([{ ...about, text: "a;\u20ac" }]);
  for (const bytes of [new Uint8Array([97, 0, 98]), new Uint8Array([97, 0xff])])
    expect(await read(bytes)).toEqual([{ ...about, blob: Buffer.from(bytes).toString("base64") }]);
  const large = (size: number) => ({ size, bytes: async () => new Uint8Array([97]) });
  expect(await read(large(7_000_000))).toHaveLength(1);
  await expect(read(large(7_000_001))).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringContaining(uri),
  });
  for (const other of [`${uri}?x=1`, uri.replace("aaa", "A"), uri.replaceAll(/a{64}/g, "b".repeat(64))])
    expect([other, await read("x", other)]).toEqual([other, undefined]);
});
