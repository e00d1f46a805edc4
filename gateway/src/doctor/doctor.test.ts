import { expect, spyOn, test } from "bun:test";
import * as files from "node:fs/promises";
import { AppError } from "manyhands/internal/core/errors";
import { freePort } from "manyhands/internal/http/free-port";
import * as access from "manyhands/internal/server/access";
import * as z from "zod";
import * as up from "../session/is-up.ts";
import { cliForTest } from "../testing/cli.ts";
import { checkStarts } from "./check-starts.ts";

const checks = z.array(z.object({ name: z.string(), state: z.string(), text: z.string() }));

/** What the doctor finds, without opening a browser, which takes its time on a busy machine. */
async function doctorsChecks(env: Record<string, string>) {
  await using cli = await cliForTest({ env: { MANYHANDS_BROWSER_ENABLED: "false", ...env } });
  const code = await cli.run("doctor", "--json");
  const found = checks.parse(JSON.parse(cli.out()));
  // A warning is no failure.
  expect(code).toBe(found.some(({ state }) => state === "fail") ? 1 : 0);
  return found;
}

test("the doctor checks what the desktop needs only if the desktop is enabled", async () => {
  const off = await doctorsChecks({});
  expect(off.map(({ name }) => name)).not.toContain("Xvfb");
  const on = await doctorsChecks({ MANYHANDS_DESKTOP_ENABLED: "true" });
  const found = on.filter(({ name }) => ["Xvfb", "xdotool", "openbox"].includes(name));
  // There is no virtual display on other systems, and nothing to install for it.
  if (process.platform !== "linux") return expect(found).toEqual([]);
  expect(found.map(({ name, state }) => [name, state])).toEqual(
    ["Xvfb", "xdotool", "openbox"].map((name) => [name, Bun.which(name) === null ? "warn" : "ok"]),
  );
  for (const { state, text } of found) if (state === "warn") expect(text).toMatch(/computer_use is off|have no frame/);
});

test("the doctor says whether other users of the machine are kept out", async () => {
  const users = async (env: Record<string, string>) =>
    (await doctorsChecks(env)).find(({ name }) => name === "local users");
  const told = process.platform === "linux" ? ["ok", "only you and root"] : ["warn", "MANYHANDS_TOKEN"];
  expect(await users({})).toMatchObject({ state: told[0], text: expect.stringContaining(told[1] ?? "") });
  expect(await users({ MANYHANDS_TOKEN: "long-enough" })).toMatchObject({
    state: "ok",
    text: "every request needs the token",
  });
});

test("where users of the machine cannot be told apart, that is a warning, and no words of safety", async () => {
  using _ = spyOn(access, "openLocalUsers").mockResolvedValue({ note: "They cannot be told apart." });
  const told = (await doctorsChecks({})).find(({ name }) => name === "local users");
  expect(told).toMatchObject({ state: "warn", text: "They cannot be told apart." });
});

test("the doctor tells what starts by itself: when it is due next, and where webhooks are to go", () => {
  const common = { start: "swe", task: "Look", settings: {}, notify: [], principal: "local" };
  const timing = { cron: "0 7 * * *", timeZone: "UTC", missed: "once", overlap: "skip" } as const;
  const hook = { type: "gitlab", secret: "hidden", signatureHeader: "x", timestampHeader: undefined } as const;
  const found = checkStarts(
    {
      schedules: [
        { ...common, ...timing, name: "early" },
        { ...common, ...timing, name: "never", cron: "0 0 30 2 *" },
      ],
      triggers: [{ ...common, ...hook, name: "issues", events: ["issue"] }],
    },
    "http://gateway:1/",
    new Date(Date.UTC(2026, 0, 1, 8)),
  );
  expect(found.map(({ state }) => state)).toEqual(["ok", "fail", "ok"]);
  expect(found.map(({ text }) => text)).toMatchObject([
    "early starts swe, next at 2026-01-02T07:00:00.000Z",
    expect.stringContaining("never: "),
    "issues starts swe for issue of gitlab at http://gateway:1/hooks/issues",
  ]);
});

test("a model that cannot be reached fails the doctor; what the settings set to no effect is a warning", async () => {
  const odd = { MANYHANDS_LLM_API_TYPE: "odd" };
  const found = await doctorsChecks({ MANYHANDS_MODEL: "m", OPENAI_BASE_URL: "http://127.0.0.1:9/v1", ...odd });
  expect(found.filter(({ name }) => name === "settings")).toMatchObject([
    { state: "warn", text: expect.stringContaining('llm.api_type "odd"') },
  ]);
  expect(found.find(({ name }) => name === "model")?.state).toBe("fail");
  expect(found.find(({ name }) => name === "home")).toMatchObject({
    state: "ok",
    text: expect.stringMatching(/GB free$/),
  });
});

test("a port is fine that is free or this system's; one of another home, or of any other program, is named with its variable", async () => {
  const listening = Array.from({ length: 3 }, () =>
    Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() }),
  );
  const [ours, others, silent] = listening.map(({ port }) => String(port));
  using asking = spyOn(up, "whoAnswers").mockImplementation(async (url) => {
    const { port } = new URL(url);
    if (port === ours) return "ours";
    if (port === others) return "another home";
    throw new AppError("unavailable", "It has not answered for 15 s.");
  });
  const ports = { MANUS_PORT: ours ?? "", SWE_PORT: others ?? "", BROWSER_PORT: silent ?? "" };
  const free = { DATA_ANALYSIS_PORT: String(freePort()), GATEWAY_PORT: String(freePort()) };
  const found = await doctorsChecks({ ...ports, ...free, MANUS_URL: `http://127.0.0.1:${ours}` });
  await Promise.all(listening.map((server) => server.stop(true)));
  const at = (port: string | undefined) => found.find(({ name }) => name === `port ${port}`);
  expect([at(ours), at(others), at(silent), at(free.GATEWAY_PORT)]).toMatchObject([
    { state: "ok", text: `manus is up at http://127.0.0.1:${ours}` },
    { state: "fail", text: "in use by a server of another home. Stop it or set SWE_PORT." },
    { state: "fail", text: "in use by a program that does not answer as browser. Stop it or set BROWSER_PORT." },
    { state: "ok", text: "free for gateway" },
  ]);
  expect(asking).toHaveBeenCalledTimes(3);
});

test("a home with little room is a warning, one with almost none or that cannot be written fails", async () => {
  const homeWith = async (gigabytes: number) => {
    using _ = spyOn(files, "statfs").mockResolvedValue({ bavail: gigabytes * 1e6, bsize: 1_000 } as never);
    return (await doctorsChecks({})).find(({ name }) => name === "home");
  };
  expect([await homeWith(1), await homeWith(0.99), await homeWith(0.09)]).toMatchObject([
    { state: "ok", text: expect.stringMatching(/, 1\.0 GB free$/) },
    { state: "warn", text: expect.stringContaining("Free some space or set MANYHANDS_HOME.") },
    { state: "fail" },
  ]);
  using _ = spyOn(files, "access").mockRejectedValue(new Error("read-only file system"));
  expect((await doctorsChecks({})).find(({ name }) => name === "home")).toMatchObject({
    ...{ state: "fail", text: expect.stringContaining("is not writable (read-only file system)") },
  });
});
