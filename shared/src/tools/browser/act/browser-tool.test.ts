import { expect, test } from "bun:test";
import * as z from "zod";
import type { Browsers } from "../../../machine/browser/browser.ts";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { contextForTest } from "../../../testing/tool-context.ts";
import { createSnapshotStates } from "../../observation/elements/snapshot-state.ts";
import { browserTool } from "./browser-tool.ts";

test("a failure of the browser is told without the log of what it did", async () => {
  await using place = await workspaceForTest();
  const browsers = { open: async () => ({}) } as unknown as Browsers;
  const tool = browserTool(
    { browsers, looks: createSnapshotStates() },
    {
      name: "browser_fail",
      description: "",
      input: z.strictObject({}),
      effect: "pure",
      run: async () => {
        throw new Error("goto: it broke off\nCall log:\n\u001b[2m  - navigating\u001b[22m");
      },
    },
  );
  expect(await tool.call({}, contextForTest(place.workspace))).toMatchObject({ text: "goto: it broke off" });
});
