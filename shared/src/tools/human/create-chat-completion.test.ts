import { expect, test } from "bun:test";
import * as z from "zod";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { createChatCompletion } from "./create-chat-completion.ts";

test("without a schema the answer is text", async () => {
  await using place = await workspaceForTest();
  const tool = createChatCompletion();
  expect([tool.endsTask, tool.brings, tool.effect({})]).toEqual([true, [], "pure"]);
  expect(tool.inputSchema).toMatchObject({ type: "object", properties: { response: { type: "string" } } });
  expect(await tool.call({ response: "Hello." }, contextForTest(place.workspace))).toEqual({
    text: "Hello.",
    isError: false,
    end: { status: "success", summary: "Hello." },
  });
});

test("an answer that fits the schema ends the task with its data, and falsy values are values", async () => {
  await using place = await workspaceForTest();
  const context = contextForTest(place.workspace);
  const tool = createChatCompletion(z.strictObject({ city: z.string(), people: z.int() }));
  const result = await tool.call({ response: { city: "Ulm", people: 0 } }, context);
  expect(result.end).toEqual({
    status: "success",
    summary: '{"city":"Ulm","people":0}',
    data: { city: "Ulm", people: 0 },
  });
  for (const [shape, response] of [
    [z.number(), 0],
    [z.boolean(), false],
    [z.string(), ""],
  ] as const)
    expect((await createChatCompletion(shape).call({ response }, context)).end?.data).toBe(response);
});

test("an answer that does not fit the schema goes back to the model", async () => {
  await using place = await workspaceForTest();
  const tool = createChatCompletion(z.array(z.number()));
  const result = await tool.call({ response: ["one"] }, contextForTest(place.workspace));
  expect([result.isError, result.end]).toEqual([true, undefined]);
});

test("a JSON Schema with references is accepted", async () => {
  await using place = await workspaceForTest();
  const tool = createChatCompletion({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: {
      point: { type: "object", properties: { x: { type: "number" } }, required: ["x"], additionalProperties: false },
    },
    type: "array",
    items: { $ref: "#/$defs/point" },
  });
  expect(JSON.stringify(tool.inputSchema)).toContain('"x":{"type":"number"}');
  const context = contextForTest(place.workspace);
  expect((await tool.call({ response: [{ x: 1 }] }, context)).end?.data).toEqual([{ x: 1 }]);
  expect((await tool.call({ response: [{ y: 1 }] }, context)).isError).toBe(true);
});
