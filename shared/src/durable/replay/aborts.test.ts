import { expect, test } from "bun:test";
import { isShutdown, shutdown } from "../../core/runs/shutdown.ts";
import { aborts } from "./aborts.ts";

test("a signal ended for a shutdown only if its process left the run to others", () => {
  const others = [aborts.canceled, aborts.leaseLost, aborts.branchLost, aborts.paused, aborts.ended].map((one) =>
    one(),
  );
  expect(others.filter(isShutdown)).toEqual([]);
  expect([shutdown(), aborts.draining()].map(isShutdown)).toEqual([true, true]);
  expect([undefined, new Error(shutdown().message), new DOMException("", "AbortError")].some(isShutdown)).toBe(false);
});
