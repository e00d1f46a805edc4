import { expect, test } from "bun:test";
import { defineAgent } from "../agent/define-agent.ts";
import type { MoreTools } from "../core/agent.ts";
import { families } from "../tools/families.ts";
import { terminate } from "../tools/human/terminate.ts";
import { approvalBy } from "./approval-by.ts";

const tester = {
  otherNames: families.flatMap(({ toolNames }) => toolNames),
  ...defineAgent({
    name: "tester",
    title: "Tester",
    description: "",
    version: "1",
    skills: [],
    instructions: "",
    tools: [terminate],
  }),
};
const call = (name: string) => ({ id: "1", name, arguments: "{}" });

test("calls of the tools named are asked about, the others are not", () => {
  expect(approvalBy(["terminate"], tester)(call("terminate"))).toBe("ask");
  expect(approvalBy([], tester)(call("terminate"))).toBe("allow");
});

test("a name that no tool has is refused: a slip there would protect nothing", () => {
  expect(() => approvalBy(["bsah"], tester)).toThrow(/\[agents\.tester\] approve names "bsah".*terminate/);
});

test("a tool that the agent would have on another machine may be named, and one of an MCP server", () => {
  const moreTools = { mayHave: (name: string) => name.includes("__") } as MoreTools;
  for (const name of ["bash", "computer_use", "browser_click_at", "sql_query"])
    expect(approvalBy([name], tester)(call(name))).toBe("ask");
  expect(approvalBy(["files__write"], { ...tester, moreTools })(call("files__write"))).toBe("ask");
  for (const name of ["browser_clik_at", "files__write"])
    expect(() => approvalBy([name], tester)).toThrow(`approve names "${name}"`);
});
