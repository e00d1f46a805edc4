import { AppError } from "manyhands/internal/core/errors";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import { type ArchivedFile, archiveStream } from "manyhands/internal/machine/workspace/archive";
import type { FileView } from "manyhands/internal/runs/run-view";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "../endpoint.ts";
import { inert, type WorkspaceRoutesDeps, workspacesOf } from "./workspace-routes.ts";

/** The most bytes of files in an archive. */
const maxBytes = 512 * 1024 * 1024;

/** `GET /runs/{id}/archive`: everything a run handed over and its agents have, in one file. */
export function archiveRoute(
  deps: WorkspaceRoutesDeps & { readonly artifacts: Pick<ArtifactStore, "get"> },
): RestEndpoint {
  const about = {
    method: "get",
    path: "/runs/{id}/archive",
    tag: "runs",
    summary: "The files of a run and of the workspaces of those it asked for, as one compressed tar archive",
    description: `Results are in the folder \`results\`, each workspace in one named like its agent. At most ${maxBytes / 1024 / 1024} MB, and 2,000 files of each workspace; \`NOT-INCLUDED.txt\` in it names what was left out and why.`,
    request: { params: z.object({ id: z.string().min(1).max(200) }) },
    answers: { 200: { description: "The archive.", body: z.string(), mediaType: "application/gzip" } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ params: { id } }, c) => {
    const run = await deps.runs.own(id, c.get("caller").principal);
    const { files: results } = await deps.runs.view(run);
    const found = await workspacesOf(deps, run);
    const work = found.flatMap(({ run: owner, agent, files }) =>
      files.map(
        ({ path, size, modifiedAt }): ArchivedFile => ({
          path: `${agent}/${path}`,
          size,
          modifiedAt,
          read: async () => (await deps.workspaces?.read(owner, path)) ?? gone(),
        }),
      ),
    );
    const files = [...results.map((file) => resultFile(file, deps.artifacts)), ...work];
    if (files.length === 0) throw new AppError("not_found", "This run has no files.");
    const isWhole = found.every(({ complete }) => complete);
    const notListed = isWhole ? undefined : "Files of workspaces with more than are listed";
    return new Response(await archiveStream(files, { maxBytes, notListed }), {
      headers: {
        ...inert,
        "Content-Type": "application/gzip",
        "Content-Disposition": `attachment; filename="run-${run.id}.tar.gz"`,
      },
    });
  });
}

function resultFile({ name, size, sha256 }: FileView, artifacts: Pick<ArtifactStore, "get">): ArchivedFile {
  return {
    path: `results/${name}`,
    size,
    read: async () => (await (await artifacts.get(sha256))?.bytes()) ?? gone(),
  };
}

function gone(): never {
  throw new AppError("not_found", "it is no longer stored");
}
