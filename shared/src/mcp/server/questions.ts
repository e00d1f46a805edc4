import { inputRequired } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { RunView } from "../../runs/run-view.ts";
import type { Asks, Given } from "./asking.ts";

const answerForm = z.object({ answer: z.string().meta({ title: "Answer" }) });
const allowForm = z.object({ allow: z.boolean().meta({ title: "Allow it once" }) });

/** The run's question as MCP asks one; the run's id comes back with the answer, and counts only for whose run it is. */
export function question({ id, question = "" }: RunView): Asks {
  return { asks: { answer: inputRequired.elicit({ message: question, requestedSchema: answerForm }) }, state: id };
}

/** Asks the person at the client whether a call may be made. Its code comes back with the decision. */
export function decision(message: string, code: string): Asks {
  return { asks: { allow: inputRequired.elicit({ message, requestedSchema: allowForm }) }, state: code };
}

/** What a person answered to a run's question; undefined when nothing came. */
export function personsAnswer({ responses }: Given): string | undefined {
  const given = answered.safeParse(responses.answer).data;
  if (given === undefined) return undefined;
  return given.action === "accept" ? (given.content?.answer ?? "") : "(The person did not want to answer.)";
}

/** Whether a person allowed the call that is made again with it; undefined when nobody was asked. */
export function personsDecision({ responses }: Given): boolean | undefined {
  const given = decided.safeParse(responses.allow).data;
  return given && given.action === "accept" && given.content?.allow === true;
}

const answered = z.object({ action: z.string(), content: answerForm.optional() });
const decided = z.object({ action: z.string(), content: allowForm.optional() });
