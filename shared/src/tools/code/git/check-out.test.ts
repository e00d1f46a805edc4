import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { type CodePlace, openCodePlace } from "../../../testing/code/code-place.ts";
import { checkOut } from "./check-out.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await openCodePlace();
});
afterAll(() => place.close());

test("a canceled check-out ends its git at once", async () => {
  const { root } = await place.project({});
  const caller = new AbortController();
  const begun = Promise.withResolvers<void>();
  /** Its git never comes to an end. */
  const sandbox: Sandbox = {
    ...place.sandbox,
    async spawn(command) {
      const process = await place.sandbox.spawn({ ...command, argv: ["sleep", "600"] });
      begun.resolve();
      return process;
    },
  };
  const pack = { chunks: [], bytes: 0, shallow: [] };
  const request = { url: "https://git.example/a/b", ref: { oid: "a".repeat(40) }, pack, workspace: root };
  const entries = checkOut(request, { sandbox, signal: caller.signal });
  const first = entries.next();
  await begun.promise;
  caller.abort(new DOMException("Stopped.", "AbortError"));
  await expect(first).rejects.toThrow("Stopped.");
});
