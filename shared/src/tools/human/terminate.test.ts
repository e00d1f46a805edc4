import { expect, test } from "bun:test";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { terminate } from "./terminate.ts";

test("terminate ends the task with its status and summary", async () => {
  await using place = await workspaceForTest();
  const context = contextForTest(place.workspace);
  expect(await terminate.call({ status: "failure", summary: "No such site." }, context)).toEqual({
    text: "The interaction has been completed with status: failure",
    isError: false,
    end: { status: "failure", summary: "No such site." },
  });
  expect((await terminate.call({ status: "success" }, context)).end).toEqual({ status: "success", summary: "" });
});

test("any other status does not end the task", async () => {
  await using place = await workspaceForTest();
  const result = await terminate.call({ status: "done" }, contextForTest(place.workspace));
  expect([result.isError, result.end]).toEqual([true, undefined]);
});

test("terminate waits for earlier calls, ends the task by itself, and brings nothing from outside", () => {
  expect([terminate.parallel, terminate.endsTask, terminate.effect({}), terminate.brings]).toEqual([
    false,
    true,
    "pure",
    [],
  ]);
});
