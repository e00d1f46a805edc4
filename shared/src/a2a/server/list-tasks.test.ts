import { expect, test } from "bun:test";
import { ListTasksRequest, TaskState } from "@a2a-js/sdk";
import { AppError } from "../../core/errors.ts";
import type { Engine, ListFilter, RunRecord, RunStatus } from "../../core/runs/engine.ts";
import { emptyProjection, type TaskProjection } from "../../runs/projection.ts";
import { hitlExtension } from "../extensions.ts";
import { listTasks } from "./list-tasks.ts";
import type { TaskDeps } from "./task-access.ts";

/**
 * Tasks whose letters say how each is: n(ew), r(unning), q(uestion open), a(uthorization wanted),
 * w(aiting for something else), c(ompleted), f(ailed), x (rejected).
 */
function agent(letters: string, seen: Partial<TaskProjection> = {}) {
  const asked: ListFilter[] = [];
  const statuses: Record<string, RunStatus> = {
    n: "queued",
    r: "running",
    q: "waiting",
    a: "waiting",
    w: "waiting",
    c: "completed",
    f: "failed",
    x: "failed",
  };
  const reasons: Record<string, string> = { q: "input-required", a: "auth-required", w: "agent" };
  const records = [...letters].map((letter, at) => {
    const reason = reasons[letter];
    const waiting = reason === undefined ? {} : { waiting: { reason } };
    const error = letter === "x" ? { error: { code: "rejected", message: "" } } : {};
    const known = { ...waiting, ...error };
    return { id: `${at}${letter}`, contextId: "c", status: statuses[letter], updatedAt: 0, ...known } as RunRecord;
  });
  const ends: Record<string, object> = {
    q: { question: "question" },
    a: { question: "authorization" },
    c: { end: { type: "run-ended", status: "completed" } },
    f: { end: { type: "run-ended", status: "failed" } },
    x: { end: { type: "run-ended", status: "failed", error: { code: "rejected", message: "" } } },
  };
  const deps = {
    kind: "swe",
    publicUrl: "http://a.example",
    engine: {
      async list(filter: ListFilter) {
        asked.push(filter);
        if (filter.cursor === "bogus") throw new AppError("invalid_input", "The cursor does not come from this list.");
        const fitting = records.filter(
          ({ status, waiting, error }) =>
            (filter.statuses?.includes(status) ?? true) &&
            (filter.errorCode === undefined || filter.errorCode === error?.code) &&
            (filter.waitingReason === undefined || filter.waitingReason === waiting?.reason),
        );
        const from = Number(filter.cursor ?? 0);
        const next = from + filter.limit;
        return {
          runs: fitting.slice(from, next),
          total: fitting.length,
          ...(next < fitting.length && { nextCursor: String(next) }),
        };
      },
    } as unknown as Engine,
    projections: {
      current: async ({ id }: RunRecord) => ({ ...emptyProjection, ...seen, ...ends[id.at(-1) ?? ""] }),
    },
  } as unknown as TaskDeps;
  return {
    asked,
    async list(request: object, hitl = false) {
      const page = await listTasks(deps, ListTasksRequest.fromJSON(request), { principal: "ann", hitl });
      return { ...page, ids: page.tasks.map(({ id }) => id).join(" ") };
    },
  };
}

test.each([
  ["TASK_STATE_SUBMITTED", "6n"],
  ["TASK_STATE_WORKING", "0r 4r"],
  ["TASK_STATE_INPUT_REQUIRED", "1q"],
  ["TASK_STATE_COMPLETED", "2c"],
  ["TASK_STATE_FAILED", "3f"],
  ["TASK_STATE_REJECTED", "5x"],
  ["TASK_STATE_CANCELED", ""],
  ["TASK_STATE_UNSPECIFIED", "0r 1q 2c 3f 4r 5x 6n"],
])("tasks that are %s are listed as they show themselves, not as the store has them", async (status, ids) => {
  const { tasks, ids: found } = await agent("rqcfrxn").list({ status });
  expect(found).toBe(ids);
  if (status !== "TASK_STATE_UNSPECIFIED")
    for (const task of tasks) expect(TaskState[task.status?.state ?? 0]).toBe(status);
});

test("a page goes on reading until it is full, and the next one continues after its last task", async () => {
  const { list, asked } = agent("rrqrqqrq");
  const request = { status: "TASK_STATE_INPUT_REQUIRED", pageSize: 2 };
  const first = await list(request);
  expect([first.ids, first.pageSize]).toEqual(["2q 4q", 2]);
  const second = await list({ ...request, pageToken: first.nextPageToken });
  expect([second.ids, second.nextPageToken]).toEqual(["5q 7q", ""]);
  expect(asked[0]).toEqual({
    principal: "ann",
    kind: "swe",
    limit: 2,
    statuses: ["queued", "running", "waiting", "paused"],
  });
});

test("the total is of the tasks in the state that was asked for", async () => {
  const { list } = agent("rrqrwaqrncffx");
  const total = async (status: string) => (await list({ status: `TASK_STATE_${status}`, pageSize: 1 })).totalSize;
  expect(await total("UNSPECIFIED")).toBe(13);
  expect(await total("SUBMITTED")).toBe(1);
  expect(await total("WORKING")).toBe(5);
  expect(await total("INPUT_REQUIRED")).toBe(2);
  expect(await total("AUTH_REQUIRED")).toBe(1);
  expect(await total("COMPLETED")).toBe(1);
  expect(await total("FAILED")).toBe(2);
  expect(await total("REJECTED")).toBe(1);
});

test("a page token that comes from no list is refused by the name of its field", async () => {
  const refused = agent("r").list({ pageToken: "bogus" });
  await expect(refused).rejects.toMatchObject({ violations: [{ field: "pageToken" }] });
});

test("one page reads twenty of the store's at most, and says where it stopped", async () => {
  const { list, asked } = agent("r".repeat(50));
  const page = await list({ status: "TASK_STATE_INPUT_REQUIRED", pageSize: 1 });
  const reads = asked.filter(({ waitingReason }) => waitingReason === undefined);
  expect([page.ids, reads.length, page.nextPageToken]).toEqual(["", 20, "20"]);
});

test("a list is of one conversation, and since a moment, if the caller says so; of fifty tasks otherwise", async () => {
  const { list, asked } = agent("c".repeat(51));
  expect((await list({})).tasks).toHaveLength(50);
  await list({ contextId: "c", statusTimestampAfter: "1970-01-01T00:00:01Z", pageSize: 1 });
  expect(asked).toEqual([
    { principal: "ann", kind: "swe", limit: 50 },
    { principal: "ann", kind: "swe", limit: 1, contextId: "c", updatedSince: 1_000 },
  ]);
});

test("of each task as much is listed as was asked for: messages, artifacts, the form of a question", async () => {
  const said = (seq: number, text: string) => ({
    seq,
    role: "user" as const,
    parts: [{ type: "text" as const, text }],
  });
  const { list } = agent("q", {
    history: [said(1, "one"), said(2, "two")],
    artifacts: [{ artifactId: "a", name: "a", parts: [] }],
    status: { seq: 3, text: "Which?" },
  });
  const seen = async (request: object, hitl?: boolean) => {
    const [task] = (await list(request, hitl)).tasks;
    const form = task?.status?.message?.metadata?.[hitlExtension] !== undefined;
    return [task?.history.length, task?.artifacts.length, form];
  };
  expect(await seen({})).toEqual([2, 0, false]);
  expect(await seen({ historyLength: 1, includeArtifacts: true }, true)).toEqual([1, 1, true]);
  expect(await seen({ historyLength: 0, includeArtifacts: false })).toEqual([0, 0, false]);
});
