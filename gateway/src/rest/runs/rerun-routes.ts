import { AppError } from "manyhands/internal/core/errors";
import type { IncomingPart, Part, UserMessage } from "manyhands/internal/core/message";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import type { Runnables } from "manyhands/internal/runs/runnable";
import type { NewRun, Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "../endpoint.ts";
import { preferredWait } from "../prefer.ts";
import { answerStarted, startedAnswers, startHeaders } from "./started-run.ts";

/** What starting a run again needs. */
export type RerunRoutesDeps = {
  readonly runs: Runs;
  readonly runnables: Runnables;
  readonly artifacts: Pick<ArtifactStore, "get">;
};

/** `POST /runs/{id}/rerun` */
export function rerunRoutes({ runs, runnables, artifacts }: RerunRoutesDeps): RestEndpoint[] {
  const about = {
    method: "post",
    path: "/runs/{id}/rerun",
    tag: "runs",
    summary: "Starts a new run of the same task, in a new conversation",
    description:
      "With the files, agents, options and limits of the first; `text` replaces what it was told. `Prefer` and `Idempotency-Key` count as for a flow.",
    request: {
      params: z.object({ id: z.string().min(1).max(200) }),
      headers: startHeaders,
      body: z.strictObject({ text: z.string().min(1).exactOptional() }),
    },
    answers: startedAnswers,
    problems: [404, 409, 429],
  } as const;
  const rerun = endpoint(about, async ({ params: { id }, headers, body }, c) => {
    const waitMs = preferredWait(headers.prefer);
    const { principal } = c.get("caller");
    const former = await runs.own(id, principal);
    const runnable = runnables.ofKind(former.kind);
    if (runnable === undefined) throw new AppError("conflict", `Nothing here can run ${former.kind} any more.`);
    const input = former.input as AgentInput;
    const { message, budget, outputSchema } = input;
    const request = {
      message: {
        messageId: headers["idempotency-key"] ?? crypto.randomUUID(),
        parts: await partsAgain(message, body.text, artifacts),
        ...(message.metadata && { metadata: message.metadata }),
      },
      ...senderAgain(input, body.text),
      ...(budget && { budget }),
      ...(outputSchema && { outputSchema }),
    };
    return answerStarted(c, runs, await runs.start(runnable, request, principal), waitMs);
  });
  return [rerun];
}

/**
 * Whose words the message is in, where it is not the caller's own: what a webhook or another agent
 * wrote does not become an order by being sent again. A new text is the caller's; if nothing is
 * left beside it, so is the task.
 */
function senderAgain(
  { message, hops, said, given, takenIn }: AgentInput,
  text: string | undefined,
): Pick<NewRun, "hops" | "said" | "given" | "takenIn"> {
  if (hops === 0 || (text !== undefined && message.parts.every(({ type }) => type === "text"))) return {};
  const words = text === undefined ? said : [...(said ?? []), text];
  return { hops, ...(words && { said: words }), ...(given && { given }), ...(takenIn && { takenIn }) };
}

/** The parts of a message to be sent again; a new text takes the place of all it said. */
async function partsAgain(
  { parts }: UserMessage,
  text: string | undefined,
  artifacts: Pick<ArtifactStore, "get">,
): Promise<IncomingPart[]> {
  const kept = text === undefined ? parts : parts.filter(({ type }) => type !== "text");
  const again = await Promise.all(kept.map((part) => partAgain(part, artifacts)));
  return text === undefined ? again : [{ type: "text", text }, ...again];
}

async function partAgain(part: Part, artifacts: Pick<ArtifactStore, "get">): Promise<IncomingPart> {
  if (part.type !== "file") return part;
  const content = await artifacts.get(part.sha256);
  if (content === undefined) throw new AppError("conflict", `Its file ${part.name} is no longer kept.`);
  return { type: "bytes", bytes: await content.bytes(), name: part.name, mediaType: part.mediaType };
}
