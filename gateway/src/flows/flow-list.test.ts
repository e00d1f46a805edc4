import { expect, test } from "bun:test";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import { flowList } from "./flow-list.ts";

const flow = (name: string, title = name) => ({ name, title }) as FlowDefinition;

test("a list is what was put and not removed, each name once, the newest flow of a name", () => {
  const list = flowList([flow("a"), flow("b")]);
  const { names } = list;
  list.put(flow("c"));
  list.put(flow("a", "newer"));
  list.remove("b");
  list.remove("nothing");
  expect(names).toEqual(["a", "c"]);
  expect(Array.from(list, ({ title }) => title)).toEqual(["newer", "c"]);
  expect([list.get("a")?.title, list.get("b")]).toEqual(["newer", undefined]);
});

test("every listener hears every flow: those that are here and those that come", () => {
  const list = flowList([flow("a"), flow("b")]);
  const heard: string[][] = [[], []];
  list.each(({ title }) => heard[0]?.push(title));
  list.put(flow("a", "newer"));
  list.each(({ title }) => heard[1]?.push(title));
  list.put(flow("c"));
  expect(heard).toEqual([
    ["a", "b", "newer", "c"],
    ["newer", "b", "c"],
  ]);
});
