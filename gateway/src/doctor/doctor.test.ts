import { expect, test } from "bun:test";
import * as z from "zod";
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
