import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { RunView } from "../runs/run-view.ts";

/** The run's question as MCP asks one; the run's id comes back with the answer, and counts only for whose run it is. */
export function question({ id, question = "" }: RunView): InputRequiredResult {
  const answer = { type: "string", title: "Answer" } as const;
  return inputRequired({
    inputRequests: {
      answer: inputRequired.elicit({
        message: question,
        requestedSchema: { type: "object", properties: { answer }, required: ["answer"] },
      }),
    },
    requestState: id,
  });
}

/** Asks the person at the client whether a call may be made. Its code comes back with the decision. */
export function decision(message: string, code: string): InputRequiredResult {
  const allow = { type: "boolean", title: "Allow it once" } as const;
  return inputRequired({
    inputRequests: {
      allow: inputRequired.elicit({
        message,
        requestedSchema: { type: "object", properties: { allow }, required: ["allow"] },
      }),
    },
    requestState: code,
  });
}

/** What a person decided about the call that is made again with it; undefined when nobody was asked. */
export function personsDecision({ mcpReq }: ServerContext): { allow: boolean; code: string } | undefined {
  const code = mcpReq.requestState<string>();
  const given = decided.safeParse(mcpReq.inputResponses?.allow).data;
  if (given === undefined || typeof code !== "string") return undefined;
  return { allow: given.action === "accept" && given.content?.allow === true, code };
}

/** Whether a question reaches the person the client works for. */
export function canAnswer({ mcpReq }: ServerContext, era: "legacy" | "modern"): boolean {
  return era === "modern" && asksPeople.safeParse(mcpReq.envelope).success;
}

/** The envelope of a client that can ask the person it works for. */
const asksPeople = z
  .looseObject({ [CLIENT_CAPABILITIES_META_KEY]: z.looseObject({ elicitation: z.unknown() }) })
  .refine((envelope) => envelope[CLIENT_CAPABILITIES_META_KEY].elicitation !== undefined);

/** A person's answer as it comes back. */
export const personsAnswer = z.object({ action: z.string(), content: z.object({ answer: z.string() }).optional() });

const decided = z.object({ action: z.string(), content: z.object({ allow: z.boolean() }).optional() });
