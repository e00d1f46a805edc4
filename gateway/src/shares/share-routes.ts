import { withoutLastSlashes } from "manyhands/internal/core/text/without-last-slashes";
import type { Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "../rest/endpoint.ts";
import type { Share, ShareStore } from "./share-store.ts";

/** What making and revoking links needs. */
export type ShareRoutesDeps = {
  readonly runs: Pick<Runs, "own">;
  readonly shares: ShareStore;
  readonly publicUrl: string;
};

const dayMs = 24 * 3_600_000;
const bounds = { least: 60_000, usual: 7 * dayMs, most: 90 * dayMs };

const shareSchema = z
  .object({
    id: z.string().describe("Names the link, to revoke it; it opens nothing."),
    runId: z.string(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: "Share", description: "A link that shows one run to anybody who has it." });

const newShareSchema = shareSchema.extend({
  secret: z.string().describe("What the link holds; it is shown only now."),
  url: z.string().describe("The link. The secret follows the `#`, so that no server and no log sees it."),
});

/** `/runs/{id}/shares` and `/shares` */
export function shareRoutes(deps: ShareRoutesDeps): RestEndpoint[] {
  return [addShare(deps), listShares(deps), revokeShare(deps)];
}

function addShare({ runs, shares, publicUrl }: ShareRoutesDeps): RestEndpoint {
  const about = {
    method: "post",
    path: "/runs/{id}/shares",
    tag: "shares",
    summary: "Makes a link that shows this run to anybody who has it, until it expires",
    description:
      "It shows the run, those that it asked for, their events and the files they handed over; no workspace, no other run, and nothing can be done with it.",
    request: {
      params: z.object({ id: z.string().min(1).max(200) }),
      body: z.strictObject({
        lifeMs: z
          .int()
          .min(bounds.least)
          .max(bounds.most)
          .default(bounds.usual)
          .describe("Milliseconds until it expires: a minute to 90 days, 7 days if left out."),
      }),
    },
    answers: { 201: { description: "The link.", body: newShareSchema } },
    problems: [404, 409],
  } as const;
  return endpoint(about, async ({ params: { id }, body: { lifeMs } }, c) => {
    const { principal } = c.get("caller");
    const run = await runs.own(id, principal);
    const { secret, ...share } = await shares.add({ runId: run.id, principal, lifeMs });
    const url = `${withoutLastSlashes(publicUrl)}/#/shared/${secret}`;
    c.header("Cache-Control", "no-store");
    return c.json({ ...shareView(share), secret, url }, 201);
  });
}

function listShares({ shares }: ShareRoutesDeps): RestEndpoint {
  const about = {
    method: "get",
    path: "/shares",
    tag: "shares",
    summary: "Your links to runs that have not expired",
    request: { query: z.object({ runId: z.string().min(1).max(200).exactOptional().describe("Of one run.") }) },
    answers: { 200: { description: "The links.", body: z.object({ shares: z.array(shareSchema) }) } },
    problems: [],
  } as const;
  return endpoint(about, async ({ query: { runId } }, c) => {
    const own = await shares.list(c.get("caller").principal);
    return c.json({ shares: own.filter((one) => runId === undefined || one.runId === runId).map(shareView) });
  });
}

function revokeShare({ shares }: ShareRoutesDeps): RestEndpoint {
  const about = {
    method: "delete",
    path: "/shares/{id}",
    tag: "shares",
    summary: "Revokes a link: it stops working, and pages that have it open are cut off within seconds",
    request: { params: z.object({ id: z.string().min(1).max(200) }) },
    answers: { 204: { description: "Revoked." } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ params: { id } }, c) => {
    await shares.revoke(id, c.get("caller").principal);
    return c.body(null, 204);
  });
}

/** A link as its owner sees it. */
export function shareView({ id, runId, createdAt, expiresAt }: Share) {
  return {
    ...{ id, runId },
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}
