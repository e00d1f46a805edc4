import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { PushNotificationNotSupportedError } from "@a2a-js/sdk/errors";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import type { Scope } from "../../core/caller.ts";
import type { Receivers } from "../push/receivers.ts";
import { callFacts, wireOf } from "./call-context.ts";
import { ownTask, type TaskDeps } from "./task-access.ts";

type PushMethods = Pick<
  A2ARequestHandler,
  | "createTaskPushNotificationConfig"
  | "getTaskPushNotificationConfig"
  | "listTaskPushNotificationConfigs"
  | "deleteTaskPushNotificationConfig"
>;

/** Wraps a method so that it takes a scope, and its failures are A2AErrors. */
type Guard = <Params, Result>(
  scope: Scope,
  work: (params: Params, context: ServerCallContext) => Promise<Result>,
) => (params: Params, context: ServerCallContext) => Promise<Result>;

/** The four push notification methods, for the caller's own tasks. */
export function pushMethods(deps: TaskDeps, receivers: Receivers, guard: Guard): PushMethods {
  const own = (taskId: string, context: ServerCallContext) => ownTask(deps, taskId, callFacts(context).principal);
  return {
    createTaskPushNotificationConfig: guard("run", async (asked, context) => {
      const task = await own(asked.taskId, context);
      await receivers.admit(asked);
      return receivers.add(task, asked, wireOf(context));
    }),
    getTaskPushNotificationConfig: guard("read", async ({ taskId, id }, context) =>
      receivers.get(await own(taskId, context), id),
    ),
    listTaskPushNotificationConfigs: guard("read", async ({ taskId, pageSize, pageToken }, context) =>
      pageOf(await receivers.list(await own(taskId, context)), pageSize, pageToken),
    ),
    deleteTaskPushNotificationConfig: guard("run", async ({ taskId, id }, context) =>
      receivers.remove(await own(taskId, context), id),
    ),
  };
}

/**
 * A page of the receivers, by their ids: the last of one page is the token of the next. Without a
 * size all that follow.
 */
function pageOf(all: readonly TaskPushNotificationConfig[], pageSize: number, pageToken: string) {
  const following = all.toSorted((one, other) => (one.id < other.id ? -1 : 1)).filter(({ id }) => id > pageToken);
  const configs = following.slice(0, pageSize || following.length);
  return { configs, nextPageToken: configs.length < following.length ? (configs.at(-1)?.id ?? "") : "" };
}

const refuse = async (): Promise<never> => {
  throw new PushNotificationNotSupportedError();
};

/** The four methods if the card does not offer push notifications. */
export const withoutPush: PushMethods = {
  createTaskPushNotificationConfig: refuse,
  getTaskPushNotificationConfig: refuse,
  listTaskPushNotificationConfigs: refuse,
  deleteTaskPushNotificationConfig: refuse,
};
