import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { type ChatMessage, type ChatRequest, chatText } from "manyhands/internal/models/chat/chat-protocol";
import { type ScriptedReply, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import * as z from "zod";

/**
 * A reply that is held back while a home is made, and given when its runs continue. `meanwhile` is
 * sent in its place.
 */
type Held = { readonly held: ScriptedReply; readonly meanwhile?: ScriptedReply };
type Reply = ScriptedReply | Held | ((request: ChatRequest) => ScriptedReply | Held);

const call = (name: string, args: object = {}): ScriptedReply => ({ calls: [{ id: `call-${name}`, name, args }] });
const write = (path: string, file_text: string) => call("str_replace_editor", { command: "create", path, file_text });
const view = (path: string) => call("str_replace_editor", { command: "view", path });
const ask = (inquire: string) => call("ask_human", { inquire });
const text = (words: string): ScriptedReply => ({ text: words });
const held = (reply: ScriptedReply): Held => ({ held: reply });

/** Repeats the last tool result. */
const told = ({ messages }: ChatRequest) =>
  text(`It says: ${chatText(messages.findLast(({ role }) => role === "tool") ?? { role: "tool" })}`);

const usersIn = (messages: readonly ChatMessage[]) => messages.filter(({ role }) => role === "user").length;
const isSecondRound = (messages: readonly ChatMessage[]) => JSON.stringify(messages.at(-1)).includes("This is round 2");

const summary = "Summed up: three notes.";
const isSummedUp = (messages: readonly ChatMessage[]) =>
  messages.some((message) => chatText(message).includes(summary));
/** A provider's error for a prompt that is too long for its model. */
const tooLong = {
  status: 400,
  error: { message: "This model's maximum context length is exceeded.", code: "context_length_exceeded" },
};

/** The answer if there is nothing else to do. */
const done = text("Done.");

/**
 * What an agent does for the word after `do:` in its task, turn by turn; without an entry here, a
 * task is done at once.
 */
const agents: Readonly<Record<string, readonly Reply[]>> = {
  // Finished.
  files: [write("hello.txt", "Hello, home.\n"), view("hello.txt"), call("tools__look"), text("The file is there.")],
  picture: [text("One black dot.")],
  notes: [
    write("a.md", "one\n"),
    write("b.md", "two ".repeat(1000)),
    write("c.md", "three\n"),
    tooLong,
    text("All are written."),
  ],
  question: [ask("Tabs or spaces?"), told],
  schema: [call("create_chat_completion", { response: { count: 3 } })],
  hand: [call("delegate", { agent: "data-analysis", task: "Count them. do:count" }), told],
  count: [write("count.csv", "n\n3\n"), text("There are 3.")],
  broken: [{ status: 400, error: { message: "scripted: no such model" } }],
  gives: [call("terminate", { status: "failure", summary: "It cannot be done." })],
  yields: [call("terminate", { status: "failure", summary: "No way." })],
  endless: [held(done)],
  unending: [held(done)],
  plan_write: [write("report.md", "# Report\n"), text("The report is written.")],
  draft: [({ messages }) => text(`draft ${usersIn(messages)}`)],
  remember: [view("hello.txt"), told],
  // Waiting.
  asking: [ask("Which year?"), told],
  shy: [ask("Which colour?"), told],
  relay: [call("delegate", { agent: "data-analysis", task: "Ask them. do:relayed" }), told],
  relayed: [ask("Which unit?"), told],
  deploy: [call("tools__deploy", { target: "moon" }), told],
  away: [view("nothing.txt"), { held: text("Back again."), meanwhile: { status: 503 } }],
  // Half-done.
  slow: [write("before.txt", "kept\n"), call("tools__slow"), told],
  lend: [call("delegate", { agent: "data-analysis", task: "Take your time. do:lent" }), told],
  lent: [held(text("Time was taken."))],
  thinking: [write("thought.txt", "half\n"), held(text("Thought through."))],
  changed: [write("step.txt", "1\n"), held(text("Resumed."))],
  late: [held(text("Late but done."))],
  working_write: [held(text("Written late."))],
  branch: [held(text("The other half."))],
  chosen: [held(text("Chosen and done."))],
  redraft: [({ messages }) => (usersIn(messages) > 1 ? held(text("draft 2")) : text("draft 1"))],
  argue: [({ messages }) => (isSecondRound(messages) ? held(text("Still so.")) : text("It is so."))],
};

/**
 * The plan of the flow whose task has the word `goal`: two agents, of which the second needs the
 * first's result.
 */
function planOf(goal: string) {
  const step = { expected: "an answer", delivers: [] };
  return [
    { ...step, id: "a", agent: "manus", text: `Find it. do:${goal}_find`, depends_on: [] },
    { ...step, id: "b", agent: "data-analysis", text: `Write it. do:${goal}_write`, depends_on: ["a"] },
  ];
}

/**
 * The answer of a flow's own model, with the one tool it is given; `goal` is the word after `flow:`
 * in the flow's task.
 */
function flowReply(tool: string, goal: string, request: ChatRequest): ScriptedReply | Held {
  const prompt = JSON.stringify(request.messages);
  const args: Readonly<Record<string, object>> = {
    planning: { command: "create", title: "Two steps", steps: planOf(goal) },
    check_step: { verdict: "met", evidence: "it says so", reason: "done" },
    check_task: { missing: [] },
    choose_branch: { branch: "words", confidence: goal === "unsure" ? 0.1 : 0.9, reason: "it is about words" },
    check_work: { passed: prompt.includes("draft 2"), feedback: "once more", score: 0.5 },
    check_agreement: { agreed: false, reason: "they differ" },
    give_verdict: { decision: "so it is", confidence: 0.7, reasons: ["see [1]"], dissent: "", citations: [1] },
  };
  const isEnd = tool === "check_task" && typeof request.tool_choice !== "object";
  const reply = tool === "" || isEnd ? text("All of it in one answer.") : call(tool, args[tool]);
  return goal === "checking_find" && tool === "check_step" ? held(reply) : reply;
}

/** The model of a home's agents and flows, and the server of their tools. */
export type Play = AsyncDisposable & {
  readonly modelUrl: string;
  readonly toolsUrl: string;
  /**
   * The requests that the model has answered and the tool calls that have ended, by unique names.
   */
  readonly done: readonly string[];
  /** The requests and calls that are held back. */
  readonly open: readonly string[];
};

/** Starts both. With `hold`, replies that can be held back are never sent. */
export async function startPlay({ hold }: { readonly hold: boolean }): Promise<Play> {
  const ended: string[] = [];
  const open: string[] = [];
  const note = (name: string, isHeld: boolean) => void (isHeld ? open : ended).push(name);
  const model = await startScriptedModel((request) => {
    const { name, reply } = replyTo(request);
    const isHeld = "held" in reply && hold;
    note(name, isHeld);
    if ("held" in reply) return hold ? (reply.meanwhile ?? { text: "…", stallAfter: 0 }) : reply.held;
    return reply;
  });
  const tools = startTools((name) => note(`tool ${name}`, hold && name === "slow"), hold);
  return {
    modelUrl: model.url,
    toolsUrl: tools.url,
    done: ended,
    open,
    async [Symbol.asyncDispose]() {
      await model.close();
      await tools.stop();
    },
  };
}

function replyTo(request: ChatRequest): { readonly name: string; readonly reply: ScriptedReply | Held } {
  const { messages, tools = [] } = request;
  const [only = ""] = tools.length === 1 ? tools.map((one) => one.function.name) : [];
  if (only === "give_data") return { name: only, reply: call(only, { data: { count: 3 } }) };
  const at = messages.findLastIndex((message) => message.role === "user" && wordIn("do", message) !== undefined);
  const said = messages[at];
  const isSummary = tools.length === 0 && chatText(messages[0] ?? { role: "system" }).includes("working memory");
  if (isSummary) return { name: "summary", reply: text(summary) };
  const word = said === undefined ? "" : (wordIn("do", said) ?? "");
  if (tools.length < 2) {
    const goal = messages.map((message) => wordIn("flow", message)).findLast((one) => one !== undefined) ?? word;
    const draft = /draft \d/.exec(chatText(messages.at(-1) ?? { role: "user" }))?.[0] ?? "";
    return { name: `flow:${goal} ${only || "write"} ${draft}`.trimEnd(), reply: flowReply(only, goal, request) };
  }
  const turn = messages.slice(at + 1).filter(({ role }) => role === "assistant").length;
  const [who] = /Manus|DataAnalysis/.exec(chatText(messages[0] ?? { role: "system" })) ?? [];
  const found = agents[word]?.at(isSummedUp(messages) ? -1 : turn) ?? done;
  return {
    name: `${who} do:${word} ${usersIn(messages)}.${turn}`,
    reply: typeof found === "function" ? found(request) : found,
  };
}

function wordIn(kind: "do" | "flow", message: ChatMessage): string | undefined {
  return new RegExp(`\\b${kind}:(\\w+)`).exec(chatText(message))?.[1];
}

/** Tools; with `hold`, `slow` never answers. */
function startTools(called: (name: string) => void, hold: boolean) {
  const server = () => {
    const made = new McpServer({ name: "tools", version: "1.0.0" });
    const add = (name: string, readOnlyHint: boolean, answer: string, waits: boolean) =>
      made.registerTool(
        name,
        { description: `Does ${name}.`, inputSchema: z.looseObject({}), annotations: { readOnlyHint } },
        async () => {
          called(name);
          if (waits) await new Promise(() => undefined);
          return { content: [{ type: "text", text: answer }] };
        },
      );
    add("look", true, "looked", false);
    add("deploy", false, "deployed", false);
    add("slow", false, "slow but done", hold);
    return made;
  };
  const handler = createMcpHandler(server);
  const bun = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: (request) => handler.fetch(request) });
  return { url: `${bun.url.href}mcp`, stop: () => bun.stop(true) };
}
