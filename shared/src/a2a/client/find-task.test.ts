import { expect, test } from "bun:test";
import type { Client } from "@a2a-js/sdk/client";
import { AppError } from "../../core/errors.ts";
import { findTask } from "./find-task.ts";

const retry = { retries: 0, firstPauseMs: 1 };
/**
 * An agent that lists each of these messages on a page of its own, and the tokens it was asked
 * with.
 */
function listing(pages: readonly string[], next = (page: number) => (page < pages.length ? `${page}` : "")) {
  const asked: string[] = [];
  const listTasks: Client["listTasks"] = async ({ pageToken, pageSize, contextId }) => {
    asked.push(`${contextId} ${pageSize} ${pageToken}`);
    const messageId = pages[asked.length - 1];
    const tasks = messageId === undefined ? [] : [{ id: `task of ${messageId}`, history: [{ messageId }] }];
    return { tasks, nextPageToken: next(asked.length) } as Awaited<ReturnType<Client["listTasks"]>>;
  };
  return { sdk: { listTasks } as Client, asked };
}

test("the task of a message is looked for page by page in its conversation, and no further than it is found", async () => {
  const { sdk, asked } = listing(["a", "b", "c"]);
  expect(await findTask(sdk, retry, "b", { contextId: "talk" })).toMatchObject({ id: "task of b" });
  expect(asked).toEqual(["talk 100 ", "talk 100 1"]);
});

test("a message that no page has was not listed, and an agent that lists without end is left after ten", async () => {
  const all = listing(["a", "b"]);
  expect([await findTask(all.sdk, retry, "z", {}), all.asked.length]).toEqual([undefined, 2]);
  const endless = listing([], (page) => `${page}`);
  expect([await findTask(endless.sdk, retry, "z", {}), endless.asked.length]).toEqual([undefined, 10]);
});

test("an agent that cannot list has nothing to show, and any other refusal is told", async () => {
  const refusing = (code: "unsupported" | "unauthorized") =>
    ({ listTasks: () => Promise.reject(new AppError(code, "No.")) }) as unknown as Client;
  expect(await findTask(refusing("unsupported"), retry, "a", {})).toBeUndefined();
  await expect(findTask(refusing("unauthorized"), retry, "a", {})).rejects.toMatchObject({ code: "unauthorized" });
});
