import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from "@a2a-js/sdk";
import { AppError } from "../../core/errors.ts";
import type { ListFilter, RunRecord } from "../../core/runs/engine.ts";
import { taskState } from "../task-state.ts";
import { taskView } from "../task-view.ts";
import { FieldViolationsError } from "../wire-error.ts";
import type { TaskDeps } from "./task-access.ts";

const defaultPageSize = 50;
/**
 * Most pages of the engine read for one page of ours, if the requested state is finer than the
 * engine's status.
 */
const maxReads = 20;

/**
 * The caller's tasks at this agent, newest status first. A page may have fewer than `pageSize`
 * tasks even if more follow.
 */
export async function listTasks(
  deps: TaskDeps,
  request: ListTasksRequest,
  { principal, hitl }: { readonly principal: string; readonly hitl: boolean },
): Promise<ListTasksResponse> {
  const pageSize = request.pageSize ?? defaultPageSize;
  const filter = engineFilter(deps, request, principal);
  const tasks: Task[] = [];
  let cursor: string | undefined = request.pageToken || undefined;
  let totalSize = 0;
  for (let reads = 0; reads < maxReads && tasks.length < pageSize; reads++) {
    const page = { ...filter, limit: pageSize - tasks.length, ...(cursor === undefined ? {} : { cursor }) };
    const found = await deps.engine.list(page).catch((error) => {
      throw cursor === request.pageToken ? asPageTokenFault(error) : error;
    });
    for (const run of found.runs) {
      const task = await matching(deps, run, request, hitl);
      if (task !== undefined) tasks.push(task);
    }
    if (reads === 0) totalSize = await totalIn(request.status, deps.engine, filter, found.total);
    cursor = found.nextCursor;
    if (cursor === undefined) break;
  }
  return { tasks, nextPageToken: cursor ?? "", pageSize, totalSize: Math.max(totalSize, tasks.length) };
}

/** What the engine calls a cursor is the caller's page token. */
function asPageTokenFault(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "invalid_input") return error;
  const description = "must be the nextPageToken of an earlier page";
  return new FieldViolationsError([{ field: "pageToken", description }]);
}

/**
 * How many tasks are in the state, of the `listed` runs that can be. What the store's status does
 * not tell is told by what runs wait for, and by why they failed.
 */
async function totalIn(
  state: TaskState,
  engine: Pick<TaskDeps["engine"], "list">,
  filter: Omit<ListFilter, "limit">,
  listed: number,
): Promise<number> {
  const count = async (more: Partial<ListFilter>) => (await engine.list({ ...filter, ...more, limit: 1 })).total;
  const waiting = (waitingReason: string) => count({ statuses: ["waiting"], waitingReason });
  if (state === TaskState.TASK_STATE_INPUT_REQUIRED) return waiting("input-required");
  if (state === TaskState.TASK_STATE_AUTH_REQUIRED) return waiting("auth-required");
  if (state === TaskState.TASK_STATE_FAILED && listed > 0) return listed - (await count({ errorCode: "rejected" }));
  if (state !== TaskState.TASK_STATE_WORKING || listed === 0) return listed;
  const begun = await count({ statuses: ["running", "waiting", "paused"] });
  return begun - (await waiting("input-required")) - (await waiting("auth-required"));
}

async function matching(
  deps: TaskDeps,
  run: RunRecord,
  request: ListTasksRequest,
  hitl: boolean,
): Promise<Task | undefined> {
  const projection = await deps.projections.current(run);
  const state = taskState(projection, run);
  if (request.status !== TaskState.TASK_STATE_UNSPECIFIED && state !== request.status) return undefined;
  const detail = { historyLength: request.historyLength, artifacts: request.includeArtifacts ?? false, hitl };
  return taskView(run, projection, deps.publicUrl, detail, run);
}

function engineFilter(deps: TaskDeps, request: ListTasksRequest, principal: string): Omit<ListFilter, "limit"> {
  const statuses = engineStatuses(request.status);
  const since = request.statusTimestampAfter;
  return {
    principal,
    kind: deps.kind,
    ...(request.contextId === "" ? {} : { contextId: request.contextId }),
    ...(statuses === undefined ? {} : { statuses }),
    ...(request.status === TaskState.TASK_STATE_REJECTED ? { errorCode: "rejected" } : {}),
    ...(since === undefined || since === "" ? {} : { updatedSince: Date.parse(since) }),
  };
}

/**
 * The run statuses in which a task can have the state; the exact state is then read from the task.
 */
function engineStatuses(state: TaskState): RunRecord["status"][] | undefined {
  switch (state) {
    case TaskState.TASK_STATE_SUBMITTED:
      return ["queued"];
    case TaskState.TASK_STATE_WORKING:
    case TaskState.TASK_STATE_INPUT_REQUIRED:
    case TaskState.TASK_STATE_AUTH_REQUIRED:
      return ["queued", "running", "waiting", "paused"];
    case TaskState.TASK_STATE_COMPLETED:
      return ["completed"];
    case TaskState.TASK_STATE_CANCELED:
      return ["canceled"];
    case TaskState.TASK_STATE_FAILED:
    case TaskState.TASK_STATE_REJECTED:
      return ["failed"];
    default:
      return undefined;
  }
}
