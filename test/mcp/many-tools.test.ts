import { expect, test } from "bun:test";
import { contextForTest } from "../../shared/src/testing/tool-context.ts";
import { fixture, hostForTest } from "./host-for-test.ts";

test("definitions beyond the budget are searched, and the tools a task found are offered to it", async () => {
  await using it = await hostForTest(
    { a: fixture("many", "60"), b: fixture("many", "60") },
    { definitionTokens: 2_000 },
  );
  const mounted = it.host.mount("all");
  const tools = await it.tools();
  expect(tools).toHaveLength(120);
  const [find, ...none] = mounted.offer(tools, [], []);
  expect([find?.name, none.length]).toEqual(["find_tools", 0]);
  const { text } = (await find?.call({ query: "thing number 17", count: 2 }, contextForTest(it.workspace))) ?? {
    text: "",
  };
  const found = mounted.offer(tools, [{ name: "find_tools", text }], []).map(({ name }) => name);
  expect(found.sort()).toEqual(["a__tool_17", "b__tool_17", "find_tools"]);
  expect(mounted.offer(tools.slice(0, 5), [], [])).toHaveLength(5);
});
