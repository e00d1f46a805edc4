import type { Artifact, Task } from "@a2a-js/sdk";
import { Role } from "@a2a-js/sdk";
import type { Fault } from "../../core/ask-outcome.ts";
import type { Json } from "../../core/json.ts";
import { messageText } from "../client/task-update.ts";

/** Characters of an answer, and of its data as JSON. */
const mostCharacters = 256 * 1024;

/** Artifacts that are an answer at an agent of ours. */
const answerNames = ["answer", "partial-answer"];

/** What another agent answered: text and, where there is any, data. `fault` when something of it was too large. */
export type Answer = { readonly text: string; readonly data?: Json; readonly fault?: Fault };

/** The answer of a task: its artifact of that name, or the text of all its artifacts, or else what the agent said last. */
export function answerOf(task: Task): Answer {
  const named = task.artifacts.findLast(({ name }) => answerNames.includes(name));
  const sources = named === undefined ? task.artifacts : [named];
  const text = sources.map(textOf).filter(Boolean).join("\n") || lastWords(task);
  const data = sources.flatMap(({ parts }) =>
    parts.flatMap(({ content }) => (content?.$case === "data" ? [content.value as Json] : [])),
  )[0];
  const isLong = text.length > mostCharacters;
  const isHuge = data !== undefined && JSON.stringify(data).length > mostCharacters;
  const what = [...(isLong ? ["text"] : []), ...(isHuge ? ["data"] : [])].join(" and ");
  const message = `The ${what} of the answer is longer than the ${mostCharacters} characters that are taken.`;
  return {
    text: (isLong ? `${text.slice(0, mostCharacters)}\n[cut off]` : text).toWellFormed(),
    ...(data !== undefined && !isHuge && { data }),
    ...(what !== "" && { fault: { code: "too_large" as const, message } }),
  };
}

/** The text parts of one artifact as they are: an agent that streams sends its answer in pieces, which may end in mid-word. */
function textOf({ parts }: Artifact): string {
  return parts.flatMap(({ content }) => (content?.$case === "text" ? [content.value] : [])).join("");
}

function lastWords({ status, history }: Task): string {
  const said = messageText(status?.message);
  return said || messageText(history.findLast(({ role }) => role === Role.ROLE_AGENT));
}
