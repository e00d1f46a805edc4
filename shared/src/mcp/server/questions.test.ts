import { expect, test } from "bun:test";
import type { Server, ServerContext } from "@modelcontextprotocol/server";
import { asksPeople, capabilitiesOf, personsAnswer, personsDecision } from "./questions.ts";

const given = (responses: Record<string, unknown>) => ({ responses, state: undefined });

test.each([
  [{}, false],
  [{ elicitation: {} }, true],
  [{ elicitation: { form: {} } }, true],
  [{ elicitation: { url: {} } }, false],
  [{ elicitation: { form: {}, url: {} } }, true],
])("with the capabilities %j a form reaches a person: %p", (capabilities, reaches) => {
  expect(asksPeople(capabilities)).toBe(reaches);
});

test.each([
  [{}, undefined],
  [{ answer: "x" }, undefined],
  [{ answer: { action: "accept", content: { answer: "42" } } }, "42"],
  [{ answer: { action: "accept", content: { answer: "" } } }, ""],
  [{ answer: { action: "accept" } }, ""],
  [{ answer: { action: "decline", content: { answer: "42" } } }, "(The person did not want to answer.)"],
  [{ answer: { action: "cancel" } }, "(The person did not want to answer.)"],
  [{ allow: { action: "accept", content: { allow: true } } }, undefined],
])("the responses %j to a question say: %p", (responses, said) => {
  expect(personsAnswer(given(responses))).toBe(said);
});

test.each([
  [{}, undefined],
  [{ allow: true }, undefined],
  [{ allow: { action: "accept", content: { allow: true } } }, true],
  [{ allow: { action: "accept", content: { allow: false } } }, false],
  [{ allow: { action: "accept" } }, false],
  [{ allow: { action: "decline", content: { allow: true } } }, false],
  [{ allow: { action: "cancel" } }, false],
  [{ allow: { action: "accept", content: { allow: "true" } } }, undefined],
])("the responses %j allow the call: %p", (responses, allowed) => {
  expect(personsDecision(given(responses))).toBe(allowed);
});

test("a client of 2026 says with each request what it can be asked, one of 2025 when it connects", () => {
  const server = { getClientCapabilities: () => ({ elicitation: {} }) } as unknown as Server;
  const context = { mcpReq: { envelope: {} } } as unknown as ServerContext;
  expect(capabilitiesOf(server, context, "legacy")).toEqual({ elicitation: {} });
  expect(capabilitiesOf(server, context, "modern")).toEqual({});
});
