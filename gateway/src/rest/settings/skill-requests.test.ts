import { expect, test } from "bun:test";
import { callerNamed } from "manyhands/internal/core/caller";
import type { ListedSkill } from "manyhands/internal/skills/skill-library";
import { noting, restForTest } from "../../testing/rest.ts";
import { type SkillSettings, skillRoutes } from "./skill-routes.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const most = 256 * 1024;
const files = {
  ...{ "SKILL.md": bytes("Do it."), "a/empty": bytes(""), whole: bytes("x".repeat(most)) },
  ...{ long: bytes("x".repeat(most + 1)), binary: new Uint8Array([255]), zero: bytes("a\0b") },
};
const skill = {
  ...{ name: "weekly", description: "Sums up.", hash: "h", license: "MIT", allowedTools: "bash" },
  instructions: "Do it.",
  files: Object.entries(files).map(([path, content]) => ({ path, content })),
};
const listed = [
  { name: "broken", source: "home", path: "/b", state: "invalid", problem: "It has no name." },
  { name: "weekly", source: "home", path: "/w", state: "new", skill },
] as unknown as readonly ListedSkill[];

test("a skill is shown with all that approving it approves, its text files whole, others by their size", async () => {
  const { asked, functions } = noting({ list: listed, approve: undefined, remove: undefined });
  const { ask } = restForTest(skillRoutes(functions as unknown as SkillSettings), callerNamed("local"));
  const about = { name: "weekly", source: "home", path: "/w", state: "new", description: "Sums up.", hash: "h" };
  const [broken] = listed;
  expect(await (await ask("GET", "/settings/skills")).json()).toEqual({ skills: [broken, about] } as never);
  expect(await (await ask("GET", "/settings/skills/weekly")).json()).toEqual({
    ...{ ...about, license: "MIT", allowedTools: "bash", instructions: "Do it." },
    files: [
      { path: "SKILL.md", size: 6, text: "Do it." },
      { path: "a/empty", size: 0, text: "" },
      { path: "whole", size: most, text: "x".repeat(most) },
      { path: "long", size: most + 1 },
      { path: "binary", size: 1 },
      { path: "zero", size: 3 },
    ],
  });
  expect(await (await ask("GET", "/settings/skills/broken")).json()).toEqual({ ...broken, files: [] } as never);
  expect((await ask("GET", "/settings/skills/none")).status).toBe(404);
  asked.length = 0;
  expect((await ask("POST", "/settings/skills/weekly/approve", { json: { hash: "h" } })).status).toBe(200);
  expect((await ask("DELETE", "/settings/skills/weekly")).status).toBe(204);
  expect(asked).toEqual([["approve", "weekly", "h"], ["list"], ["remove", "weekly"]]);
  for (const json of [{}, { hash: "" }])
    expect((await ask("POST", "/settings/skills/weekly/approve", { json })).status).toBe(400);
});
