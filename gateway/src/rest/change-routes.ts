import { sseAnswer } from "manyhands/internal/http/sse";
import { type ChangeDeps, type ChangePace, changeFrames } from "./change-stream.ts";
import { endpoint, type RestEndpoint } from "./endpoint.ts";
import { frameSchema } from "./runs/run-routes.ts";

/** How often the stream of changes speaks at most, and how often it must, in milliseconds. */
export type ChangeStreamPace = ChangePace & {
  /** Silence after which a comment is sent. */
  readonly heartbeatMs: number;
};

/** A reader that hears nothing for a minute pays for three comments. */
const calm: ChangeStreamPace = { gapMs: 1_000, agentsEveryMs: 2_000, heartbeatMs: 20_000 };

/** `GET /changes` */
export function changeRoutes(deps: ChangeDeps & { readonly changePace?: ChangeStreamPace }): RestEndpoint[] {
  const { heartbeatMs, ...pace } = deps.changePace ?? calm;
  const about = {
    method: "get",
    path: "/changes",
    tag: "runs",
    summary: "Which of your runs change, and whether agents do, as server-sent events",
    description:
      "Data is `{runs: [{id, contextId, status, lastEvent}], more?, agents?}`: the runs that changed since the data before, at most every second; `more` if there are more than are listed; `agents` if an agent came, went or changed its health. The first data is empty: from it on every change is told, so read your lists then. Runs that another run asked for and deleted runs are not told. Silence means that nothing changes; a comment comes every 20 s.",
    request: {},
    answers: { 200: { description: "The stream.", body: frameSchema, mediaType: "text/event-stream" } },
    problems: [],
  } as const;
  const changes = endpoint(about, (_, c) => {
    const { principal } = c.get("caller");
    return sseAnswer(c.req.raw.signal, heartbeatMs, (signal) => changeFrames(deps, principal, { ...pace, signal }));
  });
  return [changes];
}
