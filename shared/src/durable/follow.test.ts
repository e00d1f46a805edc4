import { expect, test } from "bun:test";
import { AppError } from "../core/errors.ts";
import { follow } from "./follow.ts";
import { Live } from "./live.ts";

const signal = new AbortController().signal;

/** Follows a run whose log cannot be read once `before` has happened. */
async function followed(live: Live, before: () => void): Promise<unknown> {
  const log = {
    open: async () => () => undefined,
    async read() {
      before();
      throw new AppError("unavailable", "This engine is closed.");
    },
  };
  try {
    for await (const item of follow(live, log, "a", 0, signal)) return item;
    return "ended";
  } catch (error) {
    return error instanceof AppError ? error.code : error;
  }
}

test("a follower that reads while its engine closes ends, and one that cannot read otherwise fails", async () => {
  const live = new Live();
  expect(await followed(live, () => undefined)).toBe("unavailable");
  expect(await followed(live, () => live.close())).toBe("ended");
});
