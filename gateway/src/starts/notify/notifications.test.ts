import { expect, test } from "bun:test";
import type { NotifyTarget } from "manyhands/internal/config/triggers/trigger-config";
import type { StartRequest } from "manyhands/internal/core/runs/engine";
import { startsForTest } from "../../testing/starts.ts";
import { openNotifications } from "./notifications.ts";

const webhook = (name: string, principals: string[] = []): NotifyTarget => ({
  ...{ name, type: "webhook", url: `https://${name}.test/in`, secret: undefined, principals },
});

function notificationsForTest() {
  const started: StartRequest[] = [];
  const posted: string[] = [];
  const signals: AbortSignal[] = [];
  const notifications = openNotifications({
    engine: { start: async (request) => ({ run: started.push(request), created: true }) as never },
    targets: [webhook("ci"), webhook("ops"), webhook("anns", ["ann"])],
    publicUrl: "https://here.test",
    webhooks: {
      async post(url, _, signal) {
        posted.push(url);
        signals.push(signal);
        return url.includes("ops") ? { reason: "it is gone", final: true } : undefined;
      },
    },
  });
  return { notifications, started, posted, signals };
}

test("each target of a run is told by a run of its own, whoever names it how often, and none if one may not be named", async () => {
  const { notifications, started } = notificationsForTest();
  await notifications.watch({ id: "r", principal: "ann" }, ["ci", "anns", "ci"]);
  await notifications.watch({ id: "other", principal: "ann" }, ["ci"]);
  expect(started).toEqual(
    [
      ["r", "ci"],
      ["r", "anns"],
      ["other", "ci"],
    ].map(([id = "", name]) => ({
      kind: "gateway/notify",
      input: { taskId: id, config: { url: `notify:${name}` }, after: 0, snapshot: false },
      principal: "ann",
      contextId: id,
      dedupe: { key: JSON.stringify(["gateway/notify", id, name]) },
    })),
  );
  const refused = notifications.watch({ id: "r", principal: "bob" }, ["ci", "anns"]);
  await expect(refused).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("Known: ci, ops."),
  });
  expect(started).toHaveLength(3);
});

test("a principal sees, names and tries the targets that are for it alone, and hears what one refuses", async () => {
  const { notifications, posted, signals } = notificationsForTest();
  expect(notifications.list("bob").map(({ name }) => name)).toEqual(["ci", "ops"]);
  expect(notifications.list("ann")).toHaveLength(3);
  notifications.check(["ci", "anns"], "ann");
  expect(() => notifications.check(["ci", "anns"], "bob")).toThrow("anns");
  const { signal } = new AbortController();
  await notifications.test("ci", "bob", signal);
  await expect(notifications.test("anns", "bob", signal)).rejects.toMatchObject({ code: "not_found" });
  await expect(notifications.test("ops", "bob", signal)).rejects.toMatchObject({
    code: "unavailable",
    message: "ops was not reached: it is gone",
  });
  expect(posted).toEqual(["https://ci.test/in", "https://ops.test/in"]);
  expect(signals.every((one) => one === signal)).toBe(true);
});

test("what the settings name may be reached wherever it is, by its host and port, and nothing else", async () => {
  const toml = `[notify.a]
type = "webhook"
url = "https://a.test/in"
[notify.b]
type = "slack"
url = "http://b.test/in"
[notify.c]
type = "webhook"
url = "http://10.0.0.1:81/in"
[notify.d]
type = "email"
host = "mail.test"
from = "agents@example.com"
to = ["me@example.com"]
`;
  await using one = await startsForTest({}, { at: "2026-11-02T12:00:00Z", toml });
  const allowed: (readonly string[])[] = [];
  const webhooks = (hosts: readonly string[]) => {
    allowed.push(hosts);
    return { post: async () => undefined };
  };
  const work: unknown[] = [];
  await one.another({
    webhooks,
    engine: {
      ...one.engine,
      work: ([definition], options) => void work.push([definition?.kind, options]),
    },
  });
  // They last as long as the runs that they tell of, and take no place from those.
  expect(work).toEqual([["gateway/notify", { concurrency: 200, dedicatedPool: true }]]);
  expect(allowed).toEqual([["a.test:443", "b.test:80", "10.0.0.1:81"]]);
});
