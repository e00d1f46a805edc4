import { AppError } from "manyhands/internal/core/errors";
import type { RunRecord } from "manyhands/internal/core/runs/engine";
import type { ReadWorkspaces } from "manyhands/internal/machine/workspace/read-workspace";
import type { Families } from "manyhands/internal/runs/family";
import type { Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "../endpoint.ts";

/** What showing the files of workspaces needs. */
export type WorkspaceRoutesDeps = {
  readonly runs: Runs;
  readonly runnables: Runnables;
  readonly families: Pick<Families, "of">;
  readonly workspaces?: ReadWorkspaces;
};

const params = z.object({ id: z.string().min(1).max(200) });

/** `/runs/{id}/files` and `/runs/{id}/file` */
export function workspaceRoutes(deps: WorkspaceRoutesDeps): RestEndpoint[] {
  return [listFiles(deps), readFile(deps)];
}

const listSchema = z
  .object({
    files: z.array(
      z.object({
        runId: z.string().describe("A run of the agent in whose workspace it is; see `/runs/{id}/file`."),
        agent: z.string(),
        path: z.string(),
        size: z.int(),
        modifiedAt: z.iso.datetime(),
      }),
    ),
    complete: z.boolean().describe("False if there are more files than are listed."),
  })
  .meta({ id: "WorkspaceFiles" });

function listFiles(deps: WorkspaceRoutesDeps): RestEndpoint {
  const about = {
    method: "get",
    path: "/runs/{id}/files",
    tag: "runs",
    summary: "The files in the workspaces of a run and of those it asked for, as they are now",
    description: "Of agents with the gateway's home. A workspace belongs to the conversation with an agent.",
    request: { params },
    answers: { 200: { description: "The files.", body: listSchema } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ params: { id } }, c) => {
    const all = await workspacesOf(deps, await deps.runs.own(id, c.get("caller").principal));
    const files = all.flatMap(({ run, agent, files: found }) =>
      found.map(({ path, size, modifiedAt }) => ({
        runId: run.id,
        agent,
        path,
        size,
        modifiedAt: new Date(modifiedAt).toISOString(),
      })),
    );
    return c.json({ files, complete: all.every(({ complete }) => complete) });
  });
}

/**
 * The workspaces of a run and of those it asked for, each once, with a run whose workspace it is.
 */
export async function workspacesOf(
  { runnables, families, workspaces }: WorkspaceRoutesDeps,
  run: RunRecord,
): Promise<
  readonly (Awaited<ReturnType<ReadWorkspaces["list"]>> & { readonly run: RunRecord; readonly agent: string })[]
> {
  const perPlace = new Map<string, RunRecord>();
  for (const one of await families.of(run)) perPlace.set(JSON.stringify([one.kind, one.contextId]), one);
  return Promise.all(
    [...perPlace.values()].map(async (one) => {
      const listing = (await workspaces?.list(one)) ?? { files: [], complete: true };
      return { ...listing, run: one, agent: runnables.ofKind(one.kind)?.name ?? one.kind };
    }),
  );
}

/** Keeps browsers from taking a file for a page or a script of this origin. */
export const inert = {
  "Content-Type": "application/octet-stream",
  "Content-Security-Policy": "default-src 'none'; sandbox",
  "Content-Disposition": "attachment",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
};

function readFile({ runs, workspaces }: WorkspaceRoutesDeps): RestEndpoint {
  const about = {
    method: "get",
    path: "/runs/{id}/file",
    tag: "runs",
    summary: "A file in the workspace of an agent's run",
    request: { params, query: z.object({ path: z.string().min(1).max(4096) }) },
    answers: {
      200: { description: "The content.", body: z.string(), mediaType: "application/octet-stream" },
    },
    problems: [404, 413, 415],
  } as const;
  return endpoint(about, async ({ params: { id }, query: { path } }, c) => {
    const run = await runs.own(id, c.get("caller").principal);
    if (workspaces === undefined) throw new AppError("not_found", "There are no workspaces here.");
    return new Response(await workspaces.read(run, path), { headers: inert });
  });
}
