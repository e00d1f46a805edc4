import { expect, test } from "bun:test";
import * as z from "zod";
import { foreignTask, maxSources } from "../../core/taken-in.ts";
import { hitlExtension, maxGiven } from "../extensions.ts";
import { sendRequest } from "./outgoing-message.ts";

const list = (count: number) => Array.from({ length: count }, (_, n) => `n${n}`);
const told = (message: Parameters<typeof sendRequest>[0]) => sendRequest(message, true).metadata ?? {};

test("of the user's words the newest twenty are sent, each as far as it may be long", () => {
  const said = told({ said: [...list(20), "x".repeat(20_001)] })["manyhands/said"];
  expect(said).toEqual([...list(20).slice(1), "x".repeat(20_000)]);
  expect(told({ said: [] })).toEqual({ "manyhands/said": [] });
});

test("as many addresses are sent as a request may carry, and none if there are none", () => {
  expect(told({ given: list(maxGiven + 1) })).toEqual({ "manyhands/given": list(maxGiven) });
  expect(told({ given: [] })).toEqual({});
});

test("a task's sources are all sent or, if they are too many, with one that stands for any other", () => {
  expect(told({ takenIn: [] })).toEqual({ "manyhands/takenIn": [] });
  expect(told({ takenIn: list(maxSources) })).toEqual({ "manyhands/takenIn": list(maxSources) });
  expect(told({ takenIn: list(maxSources + 1) })).toEqual({
    "manyhands/takenIn": [...list(maxSources - 1), foreignTask],
  });
});

test("a count of zero is said, and so is a wait of zero", () => {
  expect(sendRequest({ hops: 0 }, true, 0).metadata).toEqual({ "manyhands/hops": 0, "manyhands/wait": 0 });
  expect(sendRequest({ text: "Go" }, true).metadata).toBeUndefined();
});

test("a message is the text before its parts, under its own id or a new one, for its task and conversation", () => {
  const part = { content: { $case: "text" as const, value: "part" }, metadata: undefined, filename: "", mediaType: "" };
  const { message, configuration } = sendRequest(
    { text: "Go", parts: [part], messageId: "m", taskId: "t", contextId: "c" },
    false,
  );
  expect(message).toMatchObject({ messageId: "m", taskId: "t", contextId: "c", extensions: [] });
  expect(message?.parts.map(({ content }) => content?.value)).toEqual(["Go", "part"]);
  expect(configuration?.returnImmediately).toBe(false);
  const ids = [sendRequest({}, true), sendRequest({}, true)].map((one) => one.message?.messageId);
  expect(new Set(ids).size).toBe(2);
});

test("an answer in a form is sent in the message, whose extension is named", () => {
  const hitl = { requestId: "r" } as unknown as NonNullable<Parameters<typeof sendRequest>[0]["hitl"]>;
  const { message } = sendRequest({ hitl, flow: { agents: ["a"] } }, true);
  expect(message?.extensions).toEqual([hitlExtension]);
  expect(message?.metadata).toEqual({ "manyhands/flow": { agents: ["a"] }, [hitlExtension]: hitl });
});

test("what the task may spend and the form of its answer are sent beside the message", () => {
  const budget = { tokens: 0, usd: 1 };
  const outputSchema = z.toJSONSchema(z.object({}));
  expect(told({ budget, outputSchema })).toEqual({
    "manyhands/budget": budget,
    "manyhands/outputSchema": outputSchema,
  });
});
