import { expect, test } from "bun:test";
import { playwrightChromium } from "./playwright.ts";

type Dispatch = (message: object) => void;

test("news of a page that is gone end nothing, and what else Playwright throws is not hidden", async () => {
  const connection = async () => (await playwrightChromium()) as unknown as { _connection: { dispatch: Dispatch } };
  const { dispatch } = (await connection())._connection;
  expect(() => dispatch({ guid: "frame@gone", method: "loadstate", params: {} })).not.toThrow();
  expect(() => dispatch({ id: 1_000_000_000, result: {} })).toThrow("Cannot find command to respond");
  expect((await connection())._connection.dispatch).toBe(dispatch);
});
