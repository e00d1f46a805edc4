import { expect, spyOn, test } from "bun:test";
import { tmpdir } from "node:os";
import * as webhooks from "../../a2a/push/webhooks.ts";
import * as keySets from "../../a2a/signing/key-sets.ts";
import { loadConfig } from "../../config/config.ts";
import { openKeySets } from "./open-card-policy.ts";
import { openWebhooks } from "./open-webhooks.ts";

const config = await loadConfig({ cwd: tmpdir(), file: undefined, env: { MANYHANDS_HOME: tmpdir() } });
const settled = (work: Promise<unknown>) =>
  work.then(
    () => "admitted",
    (error) => error.code,
  );

test("receivers are held to the policy of the web tools, also with those switched off, and what is allowed only adds to it", async () => {
  const egress = { ...config.egress, allow: ["10.0.0.1"], deny: ["10.0.0.3", "203.0.113.9"], only: [] };
  const search = { ...config.search, enabled: false };
  const receivers = openWebhooks({ ...config, egress, search }, ["10.0.0.2:81", "10.0.0.3"]);
  const admitted = async (address: string) => [address, await settled(receivers.admit(`http://${address}/`))];
  for (const [address, outcome] of [
    ["10.0.0.1", "admitted"],
    ["10.0.0.2:81", "admitted"],
    ["10.0.0.2:82", "forbidden"],
    ["10.0.0.3", "forbidden"],
    ["10.0.0.4", "forbidden"],
    ["203.0.113.9", "forbidden"],
    ["8.8.8.8", "admitted"],
  ] as const)
    expect(await admitted(address)).toEqual([address, outcome]);
  const none = openWebhooks({ ...config, egress: { ...egress, only: ["10.0.0.1"] } });
  expect(await settled(none.admit("http://8.8.8.8/"))).toBe("forbidden");
  expect(await settled(none.admit("http://10.0.0.1/"))).toBe("admitted");
});

test("receivers of this system are recognised by its own certificate", async () => {
  using creating = spyOn(webhooks, "createWebhooks");
  using keys = spyOn(keySets, "createKeySets");
  const secured = { ...config, server: { ...config.server, tls: { client: {} } as never } };
  for (const one of [secured, config]) {
    openWebhooks(one);
    openKeySets(one, (url) => url);
  }
  const shown = [...creating.mock.calls.map(([, about]) => about?.tls), ...keys.mock.calls.map(([{ tls }]) => tls)];
  expect(shown).toEqual([expect.any(Function), undefined, expect.any(Function), undefined]);
});

test("notifications go through the proxy of the settings", async () => {
  const asked: string[] = [];
  const proxy = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    socket: {
      data(socket, data) {
        asked.push(data.toString().split("\r\n")[0] ?? "");
        socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      },
    },
  });
  const egress = { ...config.egress, allow: ["10.0.0.1"], proxy: `http://127.0.0.1:${proxy.port}` };
  const refusal = await openWebhooks({ ...config, egress }).post(
    "http://10.0.0.1/told",
    { headers: {}, body: "{}" },
    AbortSignal.timeout(20_000),
  );
  expect(refusal).toBeDefined();
  expect(asked[0]).toContain("10.0.0.1");
  proxy.stop(true);
});
