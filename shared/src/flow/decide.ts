import type * as z from "zod";
import type { RecordedReply } from "../agent/model-call/call-model.ts";
import { AppError } from "../core/errors.ts";
import type { JournalEvent } from "../core/events/events.ts";
import type { Decision, Writing } from "../core/flow.ts";
import type { ModelMessage, ModelRequest, ToolSpec } from "../core/model.ts";
import type { Run } from "../core/runs/run.ts";
import { inputSchemaOf, parseInput } from "../core/tools/tool-input.ts";
import { parseArguments } from "../models/arguments.ts";
import { askFlowModel, type ModelDeps } from "./ask-model.ts";
import { cut } from "./cut.ts";
import type { FlowState } from "./flow-state.ts";

/** How often the model may correct its answer. */
const maxRepairs = 2;
/** How many characters of its other output (such as a refusal) go into the error. */
const maxSaid = 2_000;

/**
 * Has the model answer with the one tool it gets, and checks the answer; one that does not fit goes
 * back with what is wrong, at most twice. Rejects with `task_failed` if none fits.
 */
export async function decide<Schema extends z.ZodObject>(
  run: Run,
  state: FlowState,
  decision: Decision<Schema>,
  deps: ModelDeps,
): Promise<z.output<Schema>> {
  const ask: Ask = (messages, tool, written) =>
    askFlowModel(run, state, decision.name, { messages, ...(written ? asJson(tool) : asCall(tool)) }, deps);
  return repaired(decision, ask, (reply) => readReply(reply, decision));
}

/** Asks the model; `written`: the answer as JSON in its text, since it made no call before. */
type Ask = (messages: readonly ModelMessage[], tool: ToolSpec, written: boolean) => Promise<RecordedReply>;

type Form = Pick<ModelRequest, "tools" | "toolChoice" | "answerSchema">;

function asCall(tool: ToolSpec): Form {
  return { tools: [tool], toolChoice: { name: tool.name } };
}

/**
 * Servers that know nothing of a forced call, such as those of small models, can hold a text to a
 * schema.
 */
function asJson({ inputSchema }: ToolSpec): Form {
  const { $schema: _, ...answerSchema } = inputSchema;
  return { tools: [], toolChoice: "none", answerSchema };
}

/**
 * Like `decide`, but the model may also write a text: what it says without calling the tool. The
 * step in the journal has the text's name.
 */
export async function decideUnlessWritten<Schema extends z.ZodObject>(
  run: Run,
  state: FlowState,
  { name, isAnswer = false, ...said }: Writing,
  decision: Pick<Decision<Schema>, "name" | "description" | "schema" | "check">,
  deps: ModelDeps,
): Promise<{ readonly text: string } | { readonly value: z.output<Schema> }> {
  const ask: Ask = (messages, tool) =>
    askFlowModel(run, state, name, { messages, tools: [tool], toolChoice: "auto", isAnswer }, deps);
  return repaired<Schema, { readonly text: string } | { readonly value: z.output<Schema> }>(
    { ...decision, ...said },
    ask,
    (reply) => {
      const read = readReply(reply, decision);
      if ("value" in read) return { value: read };
      if (reply.toolCalls.length > 0) return read;
      if (reply.text.trim() === "") return { fault: `Write the text, or call ${decision.name}.` };
      if (reply.finish === "length") tellCutOff(run);
      return { value: { text: reply.text } };
    },
  );
}

/** Says that a text of the model ends where its output limit was. */
export function tellCutOff(run: Run): void {
  const text = "The model's text was cut off by the output limit.";
  run.emit({ type: "notice-given", kind: "truncated", text } satisfies JournalEvent);
}

/** The first of the model's replies that can be read, after two repairs at most. */
async function repaired<Schema extends z.ZodObject, Value>(
  { name, description, schema, instructions, text }: Omit<Decision<Schema>, "check">,
  ask: Ask,
  readAs: (reply: RecordedReply) => { readonly value: Value } | { readonly fault: string },
): Promise<Value> {
  const tool: ToolSpec = { name, description, inputSchema: inputSchemaOf(schema) };
  const messages: ModelMessage[] = [
    { role: "system", text: instructions },
    { role: "user", parts: [{ type: "text", text }] },
  ];
  let makesCalls = true;
  for (let repairs = 0; ; repairs++) {
    const reply = await ask(messages, tool, !makesCalls);
    const read = readAs(reply);
    if ("value" in read) return read.value;
    if (repairs === maxRepairs) {
      const said =
        reply.toolCalls.length > 0 || reply.text.trim() === "" ? "" : ` It said: ${cut(reply.text, maxSaid)}`;
      throw new AppError("task_failed", `The model gave no usable answer to ${name}: ${read.fault}${said}`);
    }
    makesCalls = reply.toolCalls.length > 0;
    messages.push(...fix(reply, tool, read.fault));
  }
}

function readReply<Schema extends z.ZodObject>(
  reply: RecordedReply,
  decision: Pick<Decision<Schema>, "name" | "schema" | "check">,
): { value: z.output<Schema> } | { fault: string } {
  const call = reply.toolCalls.find(({ name }) => name === decision.name);
  // Some models write the call's arguments into their text.
  const written = call?.arguments ?? objectIn(reply.text);
  if (written === undefined) return { fault: `Answer by calling ${decision.name}.` };
  const raw = parseArguments(written);
  if (!raw.ok) return { fault: raw.error };
  const parsed = parseInput(decision.name, decision.schema, raw.value);
  if (!parsed.ok) return { fault: parsed.problem };
  const fault = decision.check?.(parsed.data);
  return fault === undefined ? { value: parsed.data } : { fault };
}

/** A text that is one JSON object, by itself or in a block; undefined of any other. */
function objectIn(text: string): string | undefined {
  const said = text.trim();
  const isBlock = said.length >= 6 && said.startsWith("```") && said.endsWith("```");
  const whole = isBlock ? said.slice(3, -3).replace(/^json/, "").trim() : said;
  return whole.startsWith("{") ? whole : undefined;
}

function fix(
  { text, toolCalls }: RecordedReply,
  { name, inputSchema: { $schema: _, ...schema } }: ToolSpec,
  fault: string,
): ModelMessage[] {
  const again = `${fault}\nCall ${name} once more, with the whole answer`;
  if (toolCalls.length === 0) {
    const advice = `${again}, or write the arguments as one JSON object and nothing else. Their schema: ${JSON.stringify(schema)}`;
    return [
      { role: "assistant", text: text || "(empty)", toolCalls: [] },
      { role: "user", parts: [{ type: "text", text: advice }] },
    ];
  }
  const results = toolCalls.map(
    (call): ModelMessage => ({ role: "tool", callId: call.id, name: call.name, text: `${again}.`, isError: true }),
  );
  return [{ role: "assistant", text, toolCalls }, ...results];
}
