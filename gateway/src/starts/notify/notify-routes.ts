import type { Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "../../rest/endpoint.ts";
import type { Notifications } from "./notifications.ts";

/** What the routes of notifications need. */
export type NotifyRoutesDeps = { readonly notifications: Notifications; readonly runs: Pick<Runs, "own"> };

const targetSchema = z
  .object({ name: z.string(), type: z.enum(["webhook", "slack", "email"]) })
  .meta({ id: "NotifyTarget", description: "Who can be told of runs: a [notify] table of the settings." });

/** `/notify`, `/notify/{name}/test` and `/runs/{id}/notify` */
export function notifyRoutes(deps: NotifyRoutesDeps): RestEndpoint[] {
  return [listTargets(deps), testTarget(deps), watchRun(deps)];
}

function listTargets({ notifications }: NotifyRoutesDeps): RestEndpoint {
  const about = {
    method: "get",
    path: "/notify",
    tag: "notify",
    summary: "Who can be told of your runs",
    request: {},
    answers: { 200: { description: "The targets.", body: z.object({ targets: z.array(targetSchema) }) } },
    problems: [],
  } as const;
  return endpoint(about, (_, c) => c.json({ targets: notifications.list(c.get("caller").principal) }));
}

function testTarget({ notifications }: NotifyRoutesDeps): RestEndpoint {
  const about = {
    method: "post",
    path: "/notify/{name}/test",
    tag: "notify",
    summary: "Sends one message to a target, to see whether it arrives",
    request: { params: z.object({ name: z.string().min(1).max(200) }) },
    answers: { 204: { description: "The target took it." } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ params: { name } }, c) => {
    await notifications.test(name, c.get("caller").principal, c.req.raw.signal);
    return c.body(null, 204);
  });
}

function watchRun({ notifications, runs }: NotifyRoutesDeps): RestEndpoint {
  const about = {
    method: "post",
    path: "/runs/{id}/notify",
    tag: "notify",
    summary: "Tells targets when this run asks something and when it has ended",
    description: "Asked again, it is the same. What a target does not take is listed by `GET /deliveries`.",
    request: {
      params: z.object({ id: z.string().min(1).max(200) }),
      body: z.strictObject({ targets: z.array(z.string().min(1)).min(1).max(10) }),
    },
    answers: { 204: { description: "They will be told." } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ params: { id }, body: { targets } }, c) => {
    await notifications.watch(await runs.own(id, c.get("caller").principal), targets);
    return c.body(null, 204);
  });
}
