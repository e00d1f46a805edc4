import { expect, test } from "bun:test";
import { agentText } from "./agent.ts";

const skill = (name: string, tags: readonly string[]) => ({ id: name, name, description: "", tags, examples: [] });
const entry = { name: "one", title: "One", url: "http://one", kind: "agent" } as const;

test("an agent is described by its skills and those of their tags that say more", () => {
  const skills = [skill("Charts", ["charts", "PNG", "insight"]), skill("Report", ["pdf", "png"])];
  expect(agentText({ ...entry, description: "Finds insight in data.", skills })).toBe(
    "- one: Finds insight in data. Skills: Charts (png), Report (pdf).",
  );
  expect(agentText({ ...entry, description: "Helps.", skills: [] })).toBe("- one: Helps.");
});
