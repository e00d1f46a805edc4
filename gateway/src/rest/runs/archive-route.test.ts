import { expect, test } from "bun:test";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import type { ReadWorkspaces } from "manyhands/internal/machine/workspace/read-workspace";
import { createFamilies } from "manyhands/internal/runs/family";
import type { RunView } from "manyhands/internal/runs/run-view";
import type { Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import { restForTest } from "../../testing/rest.ts";
import { archiveRoute } from "./archive-route.ts";
import { workspaceRoutes } from "./workspace-routes.ts";

const root = { id: "root", kind: "planning", principal: "ann", contextId: "c" } as RunRecord;
const task = { ...root, id: "task", kind: "swe" };

type Listing = Awaited<ReturnType<ReadWorkspaces["list"]>>;

/** The routes over a run that asked for another one, with these results and workspaces by kind. */
function routes(results: readonly string[], work: Readonly<Record<string, Partial<Listing>>> | undefined) {
  const read: string[] = [];
  const workspaces: ReadWorkspaces = {
    list: async ({ kind }) => ({ files: [], complete: true, ...work?.[kind] }),
    async read({ kind }, path) {
      read.push(`${kind} ${path}`);
      return Buffer.from(`${kind}'s ${path}`) as never;
    },
  };
  const files = results.map((name) => ({ name, size: 4, sha256: `hash of ${name}` }));
  const own: string[][] = [];
  const accepted = { type: "agent-accepted", askId: "a", agent: "swe", taskId: "task", contextId: "c" };
  const deps = {
    runs: {
      async own(...asked: string[]) {
        own.push(asked);
        return root;
      },
      view: async () => ({ files }) as unknown as RunView,
    } as unknown as Runs,
    runnables: {
      all: () => [],
      ofKind: (kind: string) => (kind === "swe" ? { name: "swe-agent" } : undefined),
    } as unknown as Runnables,
    families: createFamilies({
      get: async (id: string) => (id === "task" ? task : undefined),
      events: async (id: string) => (id === "root" ? [{ event: accepted }] : []),
    } as unknown as Engine),
    ...(work && { workspaces }),
    artifacts: {
      get: async (sha256: string) => (sha256.endsWith("gone") ? undefined : (new Blob([sha256]) as never)),
    },
  };
  const rest = restForTest([archiveRoute(deps), ...workspaceRoutes(deps)]);
  const unpacked = async () => {
    const response = await rest.ask("GET", "/runs/root/archive");
    const archive = new Bun.Archive(await response.bytes());
    const texts = [...(await archive.files())].map(async ([path, file]) => [path, await file.text()]);
    return Object.fromEntries(await Promise.all(texts)) as Record<string, string>;
  };
  return { ...rest, unpacked, read, own };
}

const file = (path: string, size = 9) => ({ path, size, modifiedAt: 0, executable: false });

test("an archive has the results and the workspace of every agent, each read where it is", async () => {
  const { ask, unpacked, own } = routes(["a.csv"], {
    planning: { files: [file("plan.md")] },
    swe: { files: [file("src/a.ts"), file("plan.md")] },
  });
  expect(await unpacked()).toEqual({
    "results/a.csv": "hash of a.csv",
    "planning/plan.md": "planning's plan.md",
    "swe-agent/src/a.ts": "swe's src/a.ts",
    "swe-agent/plan.md": "swe's plan.md",
  });
  expect(own).toEqual([["root", "ann"]]);
  const { headers } = await ask("GET", "/runs/root/archive");
  const names = ["Content-Type", "Content-Disposition", "X-Content-Type-Options", "Cache-Control"];
  expect(names.map((name) => headers.get(name))).toEqual([
    "application/gzip",
    'attachment; filename="run-root.tar.gz"',
    "nosniff",
    "no-store",
  ]);
  expect(headers.get("Content-Security-Policy")).toContain("sandbox");
});

test("what is not in an archive is told in it: a file that is gone, too large, or of a workspace that is not listed whole", async () => {
  const most = 512 * 1024 * 1024;
  const { unpacked, read } = routes(["gone", "a.csv"], {
    swe: { files: [file("fits", most - 13), file("large", most)], complete: false },
  });
  const { "NOT-INCLUDED.txt": told = "", ...there } = await unpacked();
  expect(Object.keys(there)).toEqual(["results/a.csv", "swe-agent/fits"]);
  expect(read).toEqual(["swe fits"]);
  expect(told).toContain("Files of workspaces with more than are listed");
  expect(told).toContain("results/gone: it is no longer stored");
  expect(told).toContain("swe-agent/large: the archive would have more than 512 MB");
});

test("a run without any file has no archive; one with files of one kind only has one", async () => {
  expect((await routes([], {}).ask("GET", "/runs/root/archive")).status).toBe(404);
  expect((await routes([], undefined).ask("GET", "/runs/root/archive")).status).toBe(404);
  expect(Object.keys(await routes(["a"], undefined).unpacked())).toEqual(["results/a"]);
  expect(Object.keys(await routes([], { swe: { files: [file("b")] } }).unpacked())).toEqual(["swe-agent/b"]);
});

test("a list of files is complete only if every workspace is, and where none are read there are none", async () => {
  const listed = async (work?: Parameters<typeof routes>[1]) =>
    (await routes([], work).ask("GET", "/runs/root/files")).json();
  expect(await listed({ planning: { files: [file("a")] }, swe: { complete: false } })).toEqual({
    files: [{ runId: "root", agent: "planning", path: "a", size: 9, modifiedAt: "1970-01-01T00:00:00.000Z" }],
    complete: false,
  });
  expect(await listed()).toEqual({ files: [], complete: true });
  expect((await routes([], undefined).ask("GET", "/runs/root/file?path=a")).status).toBe(404);
  const { ask, read } = routes([], {});
  const shown = await ask("GET", "/runs/root/file?path=a%2Fb.html");
  expect([await shown.text(), shown.headers.get("Cache-Control"), read]).toEqual([
    "planning's a/b.html",
    "no-store",
    ["planning a/b.html"],
  ]);
});
