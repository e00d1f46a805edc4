import { expect, test } from "bun:test";
import { defineAgent } from "../agent/define-agent.ts";
import { terminate } from "../tools/human/terminate.ts";
import { approvalBy } from "./approval.ts";

const tester = defineAgent({ name: "tester", description: "", instructions: "", tools: [terminate] });
const call = (name: string) => ({ id: "1", name, arguments: "{}" });

test("calls of the named tools need approval, others do not", () => {
  expect(approvalBy(["terminate"], tester)(call("terminate"))).toBe("ask");
  expect(approvalBy([], tester)(call("terminate"))).toBe("allow");
});

test("an unknown tool name is refused: a typo there would protect nothing", () => {
  expect(() => approvalBy(["bsah"], tester)).toThrow(/\[agents\.tester\] approve names "bsah".*terminate/);
});

test("a tool that the agent would have on another machine may be named, and so may one of an MCP server", () => {
  const moreTools = { mayHave: (name: string) => name.includes("__") };
  for (const name of ["bash", "computer_use", "browser_click_at", "sql_query"])
    expect(approvalBy([name], tester)(call(name))).toBe("ask");
  expect(approvalBy(["files__write"], tester, moreTools)(call("files__write"))).toBe("ask");
  for (const name of ["browser_clik_at", "files__write"])
    expect(() => approvalBy([name], tester)).toThrow(`approve names "${name}"`);
  expect(() => approvalBy(["browser_clik_at"], tester, moreTools)).toThrow('approve names "browser_clik_at"');
});
