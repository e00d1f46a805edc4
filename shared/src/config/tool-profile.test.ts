import { expect, test } from "bun:test";
import { modelConfigSchema } from "../models/config.ts";
import { leftOut, profileFor } from "./tool-profile.ts";

test.each([
  [7_999, "smallest"],
  [8_000, "small"],
  [15_999, "small"],
  [16_000, "full"],
] as const)("for a window of %d tokens an agent's tools are %s", (contextWindow, profile) => {
  const config = { name: "m", baseUrl: "http://127.0.0.1:1", capabilities: { contextWindow } };
  expect(profileFor(modelConfigSchema.parse(config))).toBe(profile);
});

test("what reads, writes and computes stays in every profile, and without a model all does", () => {
  expect(profileFor(undefined)).toBe("full");
  expect([...leftOut("full")]).toEqual([]);
  expect([...leftOut("small")]).toEqual(["browser", "desktop", "delegate"]);
  expect([...leftOut("smallest")]).toEqual(["browser", "desktop", "delegate", "web", "planning"]);
});
