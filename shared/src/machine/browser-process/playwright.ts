import type { BrowserType } from "playwright";

/** What Playwright's types do not name: the end of its connection that takes in what is told. */
type Connection = { dispatch(message: object): void };

const ofSomethingGone =
  /^(?:Cannot find (?:object to|parent object) |Unknown new child: |Object with guid \S+ was not bound )/;
const guarded = new WeakSet<Connection>();

/**
 * Playwright's Chromium. Playwright throws news of a frame or page that is gone outside of any
 * call, where it would end this process; here they are dropped.
 */
export async function playwrightChromium(): Promise<BrowserType> {
  const { chromium } = await import("playwright");
  const { _connection: connection } = chromium as BrowserType & { readonly _connection?: Connection };
  if (connection !== undefined && !guarded.has(connection)) guard(connection);
  return chromium;
}

function guard(connection: Connection): void {
  guarded.add(connection);
  const dispatch = connection.dispatch.bind(connection);
  connection.dispatch = (message) => {
    try {
      dispatch(message);
    } catch (error) {
      if (!(error instanceof Error && ofSomethingGone.test(error.message))) throw error;
    }
  };
}
