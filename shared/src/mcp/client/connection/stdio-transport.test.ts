import { expect, test } from "bun:test";
import { createTextTail } from "./stdio-transport.ts";

test("only the end of the output is kept, however long it is", () => {
  const tail = createTextTail();
  for (let n = 0; n < 1_000; n++) tail.push(new TextEncoder().encode(`${"warning ".repeat(1_000)}\n`));
  tail.push(new TextEncoder().encode("the last word\n"));
  expect(tail.text()).toEndWith("the last word");
  expect(tail.text().length).toBeLessThanOrEqual(2_000);
});
