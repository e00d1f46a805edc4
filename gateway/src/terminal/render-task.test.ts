import { expect, test } from "bun:test";
import type { TaskItem } from "../tasks/task-item.ts";
import { renderTask } from "./render-task.ts";

test("Ctrl-C in `watch` ends only the watching: the task is not reported as canceled", async () => {
  const terminal = {
    style: { color: false, columns: 80 },
    interactive: false,
    out: () => undefined,
    say: () => undefined,
    ask: async () => undefined,
    read: async () => undefined,
  };
  const open = async function* (signal: AbortSignal): AsyncGenerator<TaskItem> {
    yield { kind: "state", taskId: "t1", contextId: "c1", state: "working" };
    process.emit("SIGINT");
    expect(signal.aborted).toBe(true);
    throw signal.reason;
  };
  expect(await renderTask(open, { client: undefined, terminal })).toMatchObject({ taskId: "t1", state: "working" });
});
