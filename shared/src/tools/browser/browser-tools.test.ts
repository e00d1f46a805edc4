import { expect, test } from "bun:test";
import { createBrowsers } from "../../machine/browser/create-browsers.ts";
import { browserDefaults } from "../../machine/browser-process/settings.ts";
import { estimateText } from "../../models/tokens.ts";
import { createSnapshotStates } from "../observation/snapshot-state.ts";
import { browserTools } from "./browser-tools.ts";

test("the definitions of thirty tools cost each request less than 2,300 tokens, and a ref in them is plain text", async () => {
  const policy = { allow: [], deny: [], only: [] };
  const browsers = createBrowsers({ ...browserDefaults, folder: "/nonexistent", policy });
  const tools = browserTools({
    browsers,
    looks: createSnapshotStates(),
    search: () => Promise.reject(new Error("none")),
  });
  const told = tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }));
  expect(told.length).toBeGreaterThan(25);
  expect(told.reduce((sum, text) => sum + estimateText(text), 0)).toBeLessThan(2_300);
  expect(tools.find(({ name }) => name === "browser_hover")?.inputSchema).toEqual({
    type: "object",
    properties: {
      ref: {
        type: "string",
        description: 'Or a point of the newest screenshot: "120,80".',
      },
    },
    required: ["ref"],
  });
  await browsers.close();
});
