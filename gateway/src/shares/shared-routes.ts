import { artifactApp } from "manyhands/internal/a2a/server/artifact-route";
import { type Caller, callerNamed, type Identify } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import { untilRevoked } from "manyhands/internal/http/until-revoked";
import type { Families } from "manyhands/internal/runs/family";
import type { Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "../rest/endpoint.ts";
import { shareView } from "./share-routes.ts";
import type { Share, ShareStore } from "./share-store.ts";

/** What showing a shared run needs. */
export type SharedRoutesDeps = {
  readonly runs: Pick<Runs, "own">;
  readonly shares: ShareStore;
  readonly families: Pick<Families, "asked" | "hasFile">;
  readonly artifacts: Pick<ArtifactStore, "get">;
};

/**
 * The routes that a link may read, each under `/shared`. A workspace is not among them: it belongs
 * to a conversation and holds files of other runs. Nor is the export, which names the principal.
 */
const readable = ["/runs/{id}", "/runs/{id}/tree", "/runs/{id}/events", "/runs/{id}/events/{seq}"];

/**
 * What a link shows: these of the endpoints, for the runs of its family only. The link's secret
 * comes as a bearer token, and is one nowhere else.
 */
export function sharedRoutes(endpoints: readonly RestEndpoint[], deps: SharedRoutesDeps): RestEndpoint[] {
  const shown = endpoints.filter(({ method, path }) => method === "get" && readable.includes(path));
  return [sharedRun(deps), sharedFile(deps), ...shown.map((one) => forLinks(one, deps))];
}

/** Identifies the reader of a link: its principal, who may do nothing but read. */
export function linkReader(shares: ShareStore): Identify {
  return async (request): Promise<Caller> => callerNamed((await shareOf(shares, request)).principal, ["read"]);
}

/** The link that a request comes with. Rejects with `unauthorized`. */
async function shareOf(shares: ShareStore, { headers }: { readonly headers: Headers }): Promise<Share> {
  const [, secret] = /^Bearer (mhs_[\w-]{1,200})$/.exec(headers.get("Authorization") ?? "") ?? [];
  const share = secret === undefined ? undefined : await shares.find(secret);
  if (share === undefined)
    throw new AppError("unauthorized", "This link is wrong, has expired or was revoked. Ask for a new one.");
  return share;
}

function forLinks(one: RestEndpoint, deps: SharedRoutesDeps): RestEndpoint {
  return {
    ...one,
    path: `/shared${one.path}`,
    tag: "shares",
    summary: `${one.summary}, of a shared run`,
    async handle(c) {
      const share = await shareOf(deps.shares, c.req.raw);
      await requireShared(deps, share, c.req.param("id") ?? "");
      return untilRevoked(await one.handle(c), () => isValid(deps.shares, share));
    },
  };
}

/** Rejects with `not_found` unless the run is the shared one or one that it asked for. */
async function requireShared({ runs, families }: SharedRoutesDeps, share: Share, id: string): Promise<void> {
  const root = await runs.own(share.runId, share.principal);
  if (id !== root.id && (await families.asked(root, id)) === undefined)
    throw new AppError("not_found", `There is no run ${id}.`);
}

async function isValid(shares: ShareStore, { id, principal }: Share): Promise<boolean> {
  return (await shares.list(principal)).some((one) => one.id === id);
}

const aboutShare = z
  .object({ runId: z.string(), createdAt: z.iso.datetime(), expiresAt: z.iso.datetime() })
  .meta({ id: "SharedRun", description: "Which run a link shows, and until when." });

function sharedRun({ runs, shares }: SharedRoutesDeps): RestEndpoint {
  const about = {
    method: "get",
    path: "/shared",
    tag: "shares",
    summary: "Which run a link shows, and until when",
    description: "Send the link's secret as `Authorization: Bearer SECRET`, here and to all routes below `/shared`.",
    request: {},
    answers: { 200: { description: "The run's id.", body: aboutShare } },
    problems: [404],
  } as const;
  return endpoint(about, async (_, c) => {
    const share = await shareOf(shares, c.req.raw);
    await runs.own(share.runId, share.principal);
    const { id: _id, ...shown } = shareView(share);
    return c.json(shown);
  });
}

function sharedFile(deps: SharedRoutesDeps): RestEndpoint {
  const { runs, families, shares, artifacts } = deps;
  const about = {
    method: "get",
    path: "/shared/artifacts/{sha256}/{name}",
    tag: "shares",
    summary: "A file that a shared run, or one it asked for, handed over",
    request: {
      params: z.object({
        sha256: z.string().regex(/^[0-9a-f]{64}$/, "It must be a SHA-256"),
        name: z.string().max(255),
      }),
    },
    answers: { 200: { description: "The content.", body: z.string(), mediaType: "application/octet-stream" } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ params: { sha256, name } }, c) => {
    const share = await shareOf(shares, c.req.raw);
    const root = await runs.own(share.runId, share.principal);
    const isThere = (await families.hasFile(root, sha256)) && (await artifacts.get(sha256));
    if (!isThere) throw new AppError("not_found", "There is no such file.");
    // Served as every other file is, with the same care for what a browser might do with it.
    const found = { artifacts, engine: { hasFile: async () => true } };
    const files = artifactApp(found, () => callerNamed(share.principal, ["read"]));
    return files.request(`/artifacts/${sha256}/${encodeURIComponent(name)}`, { headers: c.req.raw.headers });
  });
}
