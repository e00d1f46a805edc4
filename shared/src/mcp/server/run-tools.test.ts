import { expect, test } from "bun:test";
import type { ServerContext } from "@modelcontextprotocol/server";
import type { RunView } from "../../runs/run-view.ts";
import { contextNamed } from "./call-run.ts";
import { asking, decision, givenWith, question, questioned } from "./questions.ts";
import { isRunTool, runResult, runToolList } from "./run-tools.ts";
import { runnableTool } from "./runnable-tool.ts";

const view = (more: Partial<RunView>): RunView =>
  ({ id: "r1", name: "swe", contextId: "c", status: "running", files: [], ...more }) as RunView;
const error = { code: "timeout" as const, message: "It took too long." };

test.each<[Partial<RunView>, string, boolean]>([
  [{ status: "completed", answer: "42" }, "42", false],
  [{ status: "completed", answer: "42", data: { n: 1 } }, '42\n\n{"n":1}', false],
  [{ status: "completed", answer: '{"n":1}', data: { n: 1 } }, '{"n":1}', false],
  [{ status: "completed", data: 0 }, "0", false],
  [{ status: "completed" }, "Done.", false],
  [{ status: "completed", answer: "" }, "Done.", false],
  [{ status: "failed", error }, "The run r1 ended as failed: It took too long. (timeout)", true],
  [
    { status: "failed", error, answer: "half" },
    "The run r1 ended as failed: It took too long. (timeout)\n\nhalf",
    true,
  ],
  [{ status: "canceled" }, "The run r1 ended as canceled.", true],
  [{ status: "input-required", question: "Which?" }, "The run r1 asks: Which?\n\nAnswer it with run_answer.", false],
  [{ status: "auth-required", question: "Key?" }, "The run r1 asks: Key?\n\nAnswer it with run_answer.", false],
  [{ status: "paused", error }, "The run r1 is paused: It took too long.", false],
  [{ status: "paused" }, "The run r1 is paused: the cause is in its log", false],
  [{ status: "running" }, "The run r1 goes on (running). Look again with run_status.", false],
  [{ status: "running", progress: "reads" }, "The run r1 goes on (reads). Look again with run_status.", false],
])("the run %j is told as %j, an error: %p", (more, text, isError) => {
  const run = view(more);
  expect(runResult(run)).toEqual({ content: [{ type: "text", text }], structuredContent: { ...run }, isError });
});

test("each file of a run is a link with its name, type and size", () => {
  const files = ["a.csv", "b.pdf"].map((name, n) => ({ name, mediaType: `type/${n}`, size: n, url: `https://x/${n}` }));
  const { content } = runResult(view({ status: "completed", answer: "42", files: files as never }));
  expect(content.slice(1)).toEqual(
    files.map(({ name, mediaType, size, url }) => ({
      type: "resource_link",
      uri: url,
      name,
      mimeType: mediaType,
      size,
    })) as never,
  );
});

test("of the tools for runs only the one that looks changes nothing", () => {
  const hints = runToolList().map(({ name, annotations }) => [name, annotations?.readOnlyHint]);
  expect(hints).toEqual([
    ["run_status", true],
    ["run_answer", false],
    ["run_cancel", false],
  ]);
  expect(["run_status", "run_answer", "run_cancel", "swe", "toString"].map(isRunTool)).toEqual([
    ...[true, true, true],
    ...[false, false],
  ]);
});

test.each([
  [undefined, undefined],
  ["c", "c"],
  ["c".repeat(200), "c".repeat(200)],
])("the conversation named %p is %p", (header, named) => {
  const headers = header === undefined ? {} : { "Manyhands-Context": header };
  expect(contextNamed(new Request("http://x", { headers }))).toBe(named);
});

test("a conversation's name has a character at least, and two hundred at most", () => {
  for (const header of ["", "c".repeat(201)])
    expect(() => contextNamed(new Request("http://x", { headers: { "Manyhands-Context": header } }))).toThrow(
      "1 to 200 characters",
    );
  expect(contextNamed(undefined)).toBeUndefined();
});

test("a question is asked in the protocol's form, with the run whose answer it is", () => {
  const asked = asking(question(view({ question: "Which?", questionEvent: 12 })));
  expect(asked).toMatchObject({
    resultType: "input_required",
    requestState: "r1/12",
    inputRequests: {
      answer: {
        method: "elicitation/create",
        params: {
          message: "Which?",
          requestedSchema: { properties: { answer: { type: "string" } }, required: ["answer"] },
        },
      },
    },
  });
  expect(["r1/12", "r1", "r1/x", "r1/12/3"].map(questioned)).toEqual([
    { runId: "r1", event: 12 },
    ...["r1", "r1/x", "r1/12/3"].map((runId) => ({ runId, event: undefined })),
  ]);
  expect(asking(decision("May it?", "code"))).toMatchObject({
    requestState: "code",
    inputRequests: {
      allow: { params: { message: "May it?", requestedSchema: { properties: { allow: { type: "boolean" } } } } },
    },
  });
});

test("what comes with a repeated request is read, and nothing is made up for one that repeats none", () => {
  const context = (mcpReq: object) => ({ mcpReq }) as unknown as ServerContext;
  const inputResponses = { answer: { action: "accept" } };
  expect(givenWith(context({ inputResponses, requestState: () => "r1" }))).toEqual({
    responses: inputResponses,
    state: "r1",
  });
  expect(givenWith(context({ requestState: () => undefined }))).toEqual({ responses: {}, state: undefined });
});

test("an agent's tool takes a task, and a flow's its agents and options too; neither takes anything else", () => {
  const about = { name: "plan", title: "Plan", description: "Plans." };
  const options = { type: "object", properties: { rounds: { type: "integer" } } };
  const schemaOf = (type: "agent" | "flow") =>
    runnableTool({ ...about, type, options } as unknown as Parameters<typeof runnableTool>[0]).inputSchema;
  const common = ["task", "output_schema", "files", "wait_seconds"];
  for (const [type, more] of [
    ["agent", []],
    ["flow", ["agents", "options"]],
  ] as const) {
    const { properties, ...rest } = schemaOf(type);
    expect(Object.keys(properties ?? {}).toSorted()).toEqual([...common, ...more].toSorted());
    expect(rest).toEqual({ type: "object", required: ["task"], additionalProperties: false });
  }
  expect(schemaOf("flow").properties?.options).toEqual(options);
});
