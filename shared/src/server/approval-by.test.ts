import { expect, test } from "bun:test";
import { defineAgent } from "../agent/define-agent.ts";
import { terminate } from "../tools/human/terminate.ts";
import { approvalBy } from "./approval-by.ts";

const agent = defineAgent({
  name: "tester",
  title: "Tester",
  description: "",
  version: "1",
  skills: [],
  instructions: "",
  tools: [terminate],
});
const call = (name: string) => ({ id: "1", name, arguments: "{}" });

test("calls of the tools named are asked about, the others are not", () => {
  expect(approvalBy(["terminate"], agent)(call("terminate"))).toBe("ask");
  expect(approvalBy([], agent)(call("terminate"))).toBe("allow");
});

test("a name that no tool has is refused: a slip there would protect nothing", () => {
  expect(() => approvalBy(["bsah"], agent)).toThrow(/\[agents\.tester\] approve names "bsah".*terminate/);
});
