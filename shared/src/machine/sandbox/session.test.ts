import { expect, spyOn, test } from "bun:test";
import { type ProcessByHand, processByHand } from "../../testing/sandbox/process-by-hand.ts";
import { createSession, type SessionCallOptions } from "./session.ts";

const never = new AbortController().signal;

/** A session over a process; the token of the call that runs is `token()`. */
function openSession(options: Parameters<typeof processByHand>[0] = {}) {
  let token = "";
  const byHand = processByHand(options);
  const session = createSession(byHand.process, (code, own, { interrupted }) => {
    token = own;
    return `${code}${interrupted ? ", after an interrupt" : ""}`;
  });
  const heard: string[] = [];
  const call = (code: string, { timeoutMs = 60_000, signal = never }: Partial<SessionCallOptions> = {}) =>
    session.call(code, {
      timeoutMs,
      signal,
      onOutput: (stream, bytes) => void heard.push(`${stream} ${new TextDecoder().decode(bytes)}`),
    });
  const returns = (payload: string, { says }: ProcessByHand = byHand) => {
    says("stdout", `\x1e${token}:${payload}\x1e`);
    says("stderr", `\x1e${token}:\x1e`);
  };
  return { byHand, session, heard, call, returns };
}

test("calls end at their marks, with their payloads, and what runs then is background work", async () => {
  const { byHand, session, heard, call, returns } = openSession();
  for (const [code, payload] of [
    ["first", "0:/"],
    ["second", "1:/a"],
  ] as const) {
    const outcome = call(code);
    byHand.says("stdout", code);
    byHand.says("stderr", "warned");
    returns(payload);
    expect(await outcome).toEqual({ state: "finished", payload });
  }
  expect(heard.filter((line) => line.startsWith("stdout"))).toEqual(["stdout first", "stdout second"]);
  expect(heard.filter((line) => line.startsWith("stderr"))).toEqual(["stderr warned", "stderr warned"]);
  expect(byHand.done).toEqual(["write first", "flush", "settle", "write second", "flush", "settle"]);
  expect(session.alive()).toBe(true);
});

test("a call is over only when both outputs have shown the mark", async () => {
  const { byHand, call, returns } = openSession({
    on: (what) => void (what === "SIGINT" && returns("130:/")),
  });
  const outcome = call("code", { timeoutMs: 20 });
  byHand.says("stdout", "\x1eno mark\x1e");
  expect(await outcome).toEqual({ state: "finished", payload: "130:/", limit: "wall time 0.02 s" });
});

test("memory that ran out in a call is its limit, and the session goes on", async () => {
  const { session, call, returns } = openSession({ memoryHit: "memory 2 GB" });
  const outcome = call("code");
  returns("0:/");
  expect(await outcome).toEqual({ state: "finished", payload: "0:/", limit: "memory 2 GB" });
  expect(session.alive()).toBe(true);
});

test.each([[undefined], ["CPU time 60 s"]])(
  "an interpreter that ends gives its exit code and limit %p",
  async (limit) => {
    const { byHand, session, call } = openSession({ ...(limit !== undefined && { limitHit: limit }) });
    const outcome = call("exit 7");
    byHand.exits(7);
    expect(await outcome).toEqual({ state: "ended", exitCode: 7, ...(limit !== undefined && { limit }) });
    expect(session.alive()).toBe(false);
    expect(byHand.done).not.toContain("settle");
  },
);

test("a call may write as much as the limit, on both outputs together; with one byte more it is interrupted", async () => {
  for (const [more, limit] of [
    ["", undefined],
    ["!", "output 10 bytes"],
  ] as const) {
    const { byHand, heard, call, returns } = openSession({
      limits: { outputBytes: 10 },
      on: (what, { says }) => {
        if (what !== "SIGINT") return;
        says("stdout", "late");
        returns("130:/");
      },
    });
    const outcome = call("code");
    byHand.says("stdout", "123456");
    byHand.says("stderr", `1234${more}`);
    if (limit === undefined) returns("0:/");
    expect(await outcome).toMatchObject({ state: "finished", ...(limit !== undefined && { limit }) });
    expect((await outcome).limit).toBe(limit);
    expect(heard.toSorted()).toEqual([`stderr 1234${more}`, "stdout 123456"]);
  }
});

test("an interpreter that ended is told of although something holds its outputs open", async () => {
  using _ = spyOn(Bun, "sleep").mockImplementation(() => Promise.resolve());
  const { byHand, call } = openSession();
  const outcome = call("exit 7");
  byHand.exits(7, "open");
  expect(await outcome).toEqual({ state: "ended", exitCode: 7 });
});

test("the byte above the limit counts when it comes alone", async () => {
  const { byHand, heard, call, returns } = openSession({
    limits: { outputBytes: 4 },
    on: (what) => void (what === "SIGINT" && returns("130:/")),
  });
  const outcome = call("code");
  for (const text of ["1234", "5", "6"]) {
    byHand.says("stdout", text);
    await Bun.sleep(1);
  }
  expect(await outcome).toMatchObject({ state: "finished", limit: "output 4 bytes" });
  expect(heard.join("")).toBe("stdout 1234stdout 5");
});

test("signals become stronger until the interpreter returns; one that does not is killed and lost", async () => {
  const { sleep } = Bun;
  using waits = spyOn(Bun, "sleep").mockImplementation((ms) => sleep(Number(ms) / 50));
  for (const [strongEnough, outcome] of [
    ["SIGTERM", { state: "finished", payload: "143:/", limit: "wall time 0.001 s" }],
    [undefined, { state: "lost", limit: "wall time 0.001 s" }],
  ] as const) {
    const { byHand, session, call, returns } = openSession({
      on: (what) => void (what === strongEnough && returns("143:/")),
    });
    expect(await call("code", { timeoutMs: 1 })).toEqual(outcome);
    const signals = byHand.done.filter((what) => !/^(write|flush|settle)/.test(what));
    expect(signals).toEqual(
      strongEnough === undefined
        ? ["SIGINT", "SIGINT", "SIGTERM", "SIGINT", "SIGKILL", "SIGINT", "kill"]
        : ["SIGINT", "SIGINT", "SIGTERM"],
    );
    expect(session.alive()).toBe(strongEnough !== undefined);
    expect(waits.mock.calls.flat()).toEqual(
      strongEnough === undefined ? [100, 1000, 100, 500, 100, 500, 500] : [100, 1000, 100],
    );
    waits.mockClear();
  }
});

test("the time of a signal begins once the interpreter has had a turn to notice it, or after ten seconds without", async () => {
  const { sleep } = Bun;
  using waits = spyOn(Bun, "sleep").mockImplementation((ms) => sleep(Number(ms) / 50));
  const looks = (most: number) => Array<number>(most).fill(50);
  for (const [turns, waited] of [
    [3, [...looks(3), 100]],
    [Number.POSITIVE_INFINITY, [...looks(200), 100, ...looks(200), 1000, ...looks(200), 100]],
  ] as const) {
    let [left, signals] = [turns, 0];
    const { call, returns } = openSession({
      isStarved: () => left-- > 0,
      on: (what) => void (what.startsWith("SIG") && ++signals === (turns === 3 ? 2 : 4) && returns("130:/")),
    });
    expect(await call("code", { timeoutMs: 1 })).toMatchObject({ state: "finished", payload: "130:/" });
    expect(waits.mock.calls.flat().slice(0, waited.length)).toEqual([...waited]);
    waits.mockClear();
  }
});

test("a call after an interrupted one is told of it, and the one after that is not", async () => {
  const { byHand, call, returns } = openSession({ on: (what) => void (what === "SIGINT" && returns("130:/")) });
  await call("one", { timeoutMs: 1 });
  for (const code of ["two", "three"]) {
    const outcome = call(code);
    returns("0:/");
    await outcome;
  }
  const written = byHand.done.filter((what) => what.startsWith("write"));
  expect(written).toEqual(["write one", "write two, after an interrupt", "write three"]);
});

test("a given-up call ends the interpreter and rejects with the reason: before, in the middle, and between signals", async () => {
  const reason = new Error("given up");
  // Nothing here may wait for a signal's time.
  using _ = spyOn(Bun, "sleep").mockImplementation(() => Promise.withResolvers<void>().promise);
  const before = openSession();
  await expect(before.call("code", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(before.byHand.done).toEqual([]);
  for (const timeoutMs of [60_000, 1]) {
    const stopping = new AbortController();
    const { byHand, session, heard, call } = openSession({
      on: (what, { says }) => {
        if (what === "SIGINT") stopping.abort(reason);
        if (what === "kill") says("stdout", "late");
      },
    });
    const outcome = call("code", { timeoutMs, signal: stopping.signal });
    if (timeoutMs > 1) stopping.abort(reason);
    await expect(outcome).rejects.toBe(reason);
    expect(byHand.done.at(-1)).toBe("kill");
    expect(byHand.done).not.toContain(timeoutMs > 1 ? "SIGINT" : "SIGTERM");
    expect([session.alive(), heard]).toEqual([false, []]);
  }
});

test("after its end neither the abort nor the time of a call reaches the session", async () => {
  const stopping = new AbortController();
  const { byHand, call, returns } = openSession();
  const outcome = call("code", { timeoutMs: 30, signal: stopping.signal });
  returns("0:/");
  await outcome;
  stopping.abort();
  await Bun.sleep(60);
  expect(byHand.done).toEqual(["write code", "flush", "settle"]);
});

test("closing kills, and waits for the end", async () => {
  const { byHand, session } = openSession();
  await session.close();
  expect([byHand.done, session.alive()]).toEqual([["kill"], false]);
});
