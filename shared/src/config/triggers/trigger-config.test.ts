import { expect, test } from "bun:test";
import { sectionsSchema } from "../sections/sections.ts";
import type { Settings } from "../settings/settings.ts";
import { mayName, type TriggersConfig, triggersConfig } from "./trigger-config.ts";

const read = (tables: object): TriggersConfig =>
  triggersConfig({ sections: sectionsSchema.parse(tables), origins: new Map() } as unknown as Settings);
const key = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const start = { start: "manus", task: "Look." };
const hook = { ...start, type: "github", secret: "long-enough" };

test("a table that says only what it must starts for the operator, makes up for one missed time, and does not overlap", () => {
  const { schedules, triggers, notify } = read({
    schedules: { daily: { ...start, cron: "@daily" } },
    triggers: { push: hook },
    notify: { mine: { type: "webhook", url: "https://a.example/h" } },
  });
  const plain = { start: "manus", task: "Look.", notify: [], principal: "local", settings: {} };
  expect(schedules).toEqual([
    { ...plain, name: "daily", cron: "@daily", timeZone: "UTC", missed: "once", overlap: "skip" },
  ]);
  expect(triggers).toEqual([
    {
      ...plain,
      ...{ name: "push", type: "github", secret: "long-enough", events: [] },
      signatureHeader: "X-Signature-256",
      timestampHeader: undefined,
    },
  ]);
  expect(notify).toEqual([
    { name: "mine", principals: [], type: "webhook", url: "https://a.example/h", secret: undefined },
  ]);
});

test("all that a table says arrives where it is used", () => {
  const more = {
    ...{ agents: ["swe"], options: { rounds: 2 }, budget: { steps: 3, usd: 0 } },
    ...{ notify: ["mine", "team"], principal: "ann" },
  };
  const { schedules, triggers } = read({
    schedules: {
      a: { ...start, ...more, cron: "0 8 * * *", time_zone: "Europe/Berlin", missed: "skip", overlap: "allow" },
    },
    triggers: {
      b: {
        ...{ ...start, ...more, type: "hmac", secret: "long-enough", events: ["push"] },
        ...{ signature_header: "X-Sig", timestamp_header: "X-Time" },
      },
    },
    notify: {
      mine: { type: "slack", url: "https://a.example", principals: ["bob", "ann"] },
      team: { type: "slack", url: "https://b.example" },
    },
  });
  const all = {
    ...{ start: "manus", task: "Look.", notify: ["mine", "team"], principal: "ann" },
    settings: { agents: ["swe"], options: { rounds: 2 } },
    budget: { steps: 3, usd: 0 },
  };
  expect(schedules).toEqual([
    { ...all, name: "a", cron: "0 8 * * *", timeZone: "Europe/Berlin", missed: "skip", overlap: "allow" },
  ]);
  expect(triggers).toEqual([
    {
      ...{ ...all, name: "b", type: "hmac", secret: "long-enough", events: ["push"] },
      ...{ signatureHeader: "X-Sig", timestampHeader: "X-Time" },
    },
  ]);
});

test("whom a target may be named by is checked for each schedule and trigger by its principal", () => {
  const notify = { mine: { type: "slack", url: "https://a.example", principals: ["ann"] } };
  for (const tables of [
    { schedules: { s: { ...start, cron: "@daily", notify: ["mine"] } } },
    { triggers: { s: { ...hook, principal: "bob", notify: ["mine"] } } },
    { schedules: { s: { ...start, cron: "@daily", principal: "ann", notify: ["mine", "other"] } } },
  ])
    expect(() => read({ ...tables, notify })).toThrow(/\.s\] notify: \w+ is no \[notify\] table .* Known: mine\./);
  const everybody = { name: "n", principals: [] };
  const anns = { name: "n", principals: ["ann"] };
  expect([mayName(everybody, "n", "bob"), mayName(everybody, "m", "bob")]).toEqual([true, false]);
  expect([mayName(anns, "n", "ann"), mayName(anns, "n", "bob"), mayName(anns, "ann", "ann")]).toEqual([
    true,
    false,
    false,
  ]);
});

const mail = { type: "email", host: "mail.example", from: "a@a.example", to: ["b@b.example"] };

test.each<[object, object]>([
  [{}, { security: "starttls", port: 587, login: undefined }],
  [{ security: "tls" }, { security: "tls", port: 465 }],
  [{ security: "none" }, { security: "none", port: 25 }],
  [{ security: "tls", port: 2465 }, { port: 2465 }],
  [{ user: "u", password: "p" }, { login: { user: "u", pass: "p" } }],
])("a target by mail with %j has %j", (more, expected) => {
  expect(read({ notify: { m: { ...mail, ...more } } }).notify).toMatchObject([
    { name: "m", type: "email", host: "mail.example", from: "a@a.example", to: ["b@b.example"], ...expected },
  ]);
});

test.each<[string, object, string]>([
  ["mail without a host", { notify: { m: { ...mail, host: undefined } } }, "needs host, from and to"],
  ["mail without a sender", { notify: { m: { ...mail, from: undefined } } }, "needs host, from and to"],
  ["mail to nobody", { notify: { m: { ...mail, to: undefined } } }, "needs host, from and to"],
  ["a user without a password", { notify: { m: { ...mail, user: "u" } } }, "user and password_env, or neither"],
  ["a password without a user", { notify: { m: { ...mail, password: "p" } } }, "user and password_env, or neither"],
  ["a webhook without an address", { notify: { m: { type: "webhook" } } }, "needs url_env or url"],
  ["Slack without an address", { notify: { m: { type: "slack" } } }, "needs url_env or url"],
  ["a trigger without a secret", { triggers: { t: { ...hook, secret: undefined } } }, "needs secret_env or secret"],
  ["a name that goes into no URL", { schedules: { "A b": { ...start, cron: "@daily" } } }, "cannot be called that"],
  ["a trigger's name that does not either", { triggers: { "A b": hook } }, "cannot be called that"],
  ["a target's name that does not either", { notify: { "A b": mail } }, "cannot be called that"],
])("%s is refused: %j", (_, tables, why) => {
  expect(() => read(tables)).toThrow(
    expect.objectContaining({ code: "config_invalid", message: expect.stringContaining(why) }),
  );
});

test.each<[string, string, boolean]>([
  ["standard", `whsec_${key}`, true],
  ["standard", key, true],
  ["standard", `${"A".repeat(22)}==`, true],
  ["standard", "A".repeat(21), false],
  ["standard", "not base64, but long enough", false],
  ["standard", `whsec_${"?".repeat(32)}`, false],
  ["hmac", "not base64", true],
  ["hmac", "whsec_not-base64", false],
])("a trigger of type %s may have the secret %j: %p", (type, secret, fits) => {
  const table = () => read({ triggers: { t: { ...hook, type, secret } } });
  if (fits) expect(table().triggers[0]?.secret).toBe(secret);
  else expect(table).toThrow("16 bytes or more in base64");
});

test("what is sent to a webhook is signed with a secret of enough bytes", () => {
  const target = (secret: string) => read({ notify: { w: { type: "webhook", url: "https://a.example", secret } } });
  expect(target(`whsec_${key}`).notify).toMatchObject([{ secret: `whsec_${key}` }]);
  expect(() => target("long-enough")).toThrow("16 bytes or more in base64");
});
