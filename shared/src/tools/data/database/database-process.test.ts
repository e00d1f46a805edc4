import { expect, spyOn, test } from "bun:test";
import * as watching from "../../../machine/process/memory-watch.ts";
import * as scripts from "../../../machine/process/own-script.ts";
import { startDatabase } from "./database-process.ts";

const request = { sql: "SELECT 1", timeoutMs: 12_345, maxCharacters: 9 };
/** A database whose process does this once it was asked. */
function running(program: string, maxBytes?: number) {
  using _ = spyOn(scripts, "ownScriptArgv").mockReturnValue(["bash", "-c", `read -r asked; ${program}`]);
  return startDatabase("/", maxBytes === undefined ? {} : { maxMemoryBytes: maxBytes });
}
const failure = (text: string) => `printf '{"ok":false,"message":"%s","timeout":false}\\n' "${text}"`;

test("a process has nothing of the server's, and the patience with it ends with its reply", async () => {
  process.env.CANARY_FOR_DATABASE = "canary";
  using later = spyOn(globalThis, "setTimeout");
  using ended = spyOn(globalThis, "clearTimeout");
  const { spawn } = Bun;
  let isLetGo = false;
  using _ = spyOn(Bun, "spawn").mockImplementation(((...asked: Parameters<typeof spawn>) => {
    const child = spawn(...asked);
    const { unref } = child;
    child.unref = () => {
      isLetGo = true;
      unref.call(child);
    };
    return child;
  }) as never);
  const database = running(`${failure("$PWD$CANARY_FOR_DATABASE $LANG $TZ")}; sleep 60`);
  expect(await database.ask(request)).toEqual({ ok: false, message: "/ C.UTF-8 UTC", timeout: false });
  delete process.env.CANARY_FOR_DATABASE;
  const place = later.mock.calls.findIndex(([, ms]) => ms === 12_345 + 5_000);
  const timer = later.mock.results[place]?.value as unknown;
  expect(ended.mock.calls.some(([one]) => (one as unknown) === timer)).toBe(true);
  // A server that stops does not wait for it.
  expect([database.alive(), isLetGo]).toEqual([true, true]);
  await database.end();
  expect(database.alive()).toBe(false);
});

test.each([
  ["exit 77", "unavailable", "it needed more than its 2 GB of memory. Its tables are gone"],
  ["exit 3", "unavailable", "ended with exit code 3; its tables are gone"],
  ["exit 78", "rejected", "changed how the database works"],
  // What is no reply may be followed by more of its kind.
  ["echo a log; sleep 60", "rejected", "changed how the database works"],
  [`echo '{"ok":true}'; sleep 60`, "rejected", "changed how the database works"],
])("a process that does %j in place of an answer is over, and said to be", async (program, code, message) => {
  const database = running(program);
  const refused = await database.ask(request).catch((error) => error);
  expect(refused).toMatchObject({ code, message: expect.stringContaining(message) });
  expect(database.alive()).toBe(false);
});

test("a process that does not answer is killed five seconds after the limit", async () => {
  const database = running("sleep 60");
  expect(await database.ask({ ...request, timeoutMs: -4_950 })).toEqual({
    ...{ ok: false, message: "stopped", timeout: true },
  });
  expect(database.alive()).toBe(false);
});

test("a process is watched while it lives, and no longer, and killed for its memory", async () => {
  let isWatched = true;
  using watch = spyOn(watching, "watchMemory").mockImplementation(() => () => {
    isWatched = false;
  });
  const database = running("sleep 60", 3 * 2 ** 20);
  const asked = database.ask(request).catch((error) => error);
  const [, most, over] = watch.mock.calls[0] ?? [];
  expect([most, isWatched]).toEqual([3 * 2 ** 20, true]);
  over?.();
  expect(await asked).toMatchObject({ code: "unavailable", message: expect.stringContaining("its 3 MB of memory") });
  expect(isWatched).toBe(false);
});
