import { expect, test } from "bun:test";
import { playwrightChromium } from "./playwright.ts";

type Dispatch = (message: object) => void;

/** The answer to a request that is gone, as far as it is looked at. */
const response = { request: { guid: "request@gone" } };

test("news of a page that is gone end nothing, and what else Playwright throws is not hidden", async () => {
  const connection = async () => (await playwrightChromium()) as unknown as { _connection: { dispatch: Dispatch } };
  const { dispatch } = (await connection())._connection;
  const root = "";
  for (const late of [
    { guid: "frame@gone", method: "loadstate", params: {} },
    { guid: "page@gone", method: "__create__", params: { type: "Request", guid: "request@late", initializer: {} } },
    { guid: root, method: "__adopt__", params: { guid: "worker@gone" } },
    { guid: root, method: "__create__", params: { type: "Response", guid: "response@late", initializer: response } },
  ])
    expect(() => dispatch(late)).not.toThrow();
  expect(() => dispatch({ id: 1_000_000_000, result: {} })).toThrow("Cannot find command to respond");
  expect((await connection())._connection.dispatch).toBe(dispatch);
});
