import type { Task } from "@a2a-js/sdk";
import type { Client, RequestOptions } from "@a2a-js/sdk/client";
import { AppError } from "../../core/errors.ts";
import { type ClientRetry, retrying } from "./client-retry.ts";

const pageSize = 100;
/** Pages read at most: an agent may list without end. */
const maxPages = 10;

/**
 * Looks for the task that a message started in the agent's list of tasks; undefined if it is not
 * listed, or if the agent cannot list.
 */
export async function findTask(
  sdk: Client,
  retry: ClientRetry,
  messageId: string,
  { contextId = "", ...options }: RequestOptions & { readonly contextId?: string | undefined },
): Promise<Task | undefined> {
  let pageToken = "";
  try {
    for (let pages = 0; pages < maxPages; pages++) {
      const request = { tenant: "", contextId, status: 0, pageSize, pageToken, statusTimestampAfter: undefined };
      const page = await retrying(retry, options.signal, () => sdk.listTasks(request, options));
      const found = page.tasks.find(({ history }) => history.some((message) => message.messageId === messageId));
      pageToken = page.nextPageToken;
      if (found !== undefined || pageToken === "") return found;
    }
  } catch (error) {
    if (!(error instanceof AppError && error.code === "unsupported")) throw error;
  }
  return undefined;
}
