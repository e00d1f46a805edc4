import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { freePort } from "manyhands/internal/http/free-port";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { startGatewayServer, until } from "../servers/gateway-server.ts";
import { startManus } from "../servers/manus-server.ts";

/** Runs started while their agent is away. */
const begun = 5;

for (const killed of [false, true])
  test(`runs canceled while their agent is away begin nothing when it comes back${killed ? ", also when the gateway is killed as the first of them gets there" : ""}`, async () => {
    const home = await mkdtemp(join(tmpdir(), "cancel-kills-"));
    const model = await startScriptedModel(() => ({ text: "paid" }));
    const scripted = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted" };
    const settings = {
      MANYHANDS_HOME: join(home, "manus"),
      PORT: `${freePort()}`,
      SANDBOX: "off",
      ...scripted,
    };
    await mkdir(settings.MANYHANDS_HOME);
    const env = { MANUS_URL: `http://127.0.0.1:${settings.PORT}` };
    const before = await startGatewayServer(home, env);
    const agents = createEmbeddedEngine({ path: join(settings.MANYHANDS_HOME, "runs.db") });
    const runs = createEmbeddedEngine({ path: join(home, "state", "runs.db") });
    const tasks = async () => (await agents.list({ kind: "manus", limit: 100 })).runs;
    let after = before;
    let manus: ReturnType<typeof startManus> | undefined;
    try {
      const ids: string[] = [];
      for (let n = 0; n < begun; n++)
        ids.push((await before.call("/flows/manus", { input: `Pay bill ${n}` })).body.runId);
      const isAsked = async (id: string) => (await runs.events(id)).some(({ event }) => event.type === "agent-asked");
      for (const id of ids) await until(() => isAsked(id));
      for (const id of ids) expect((await before.call(`/runs/${id}/cancel`, {})).status).toBe(200);
      manus = startManus(settings);
      await manus.ready;
      if (killed) {
        await until(async () => (await tasks()).length > 0);
        await before.stop("SIGKILL");
        after = await startGatewayServer(home, env);
      }
      await until(async () => (await tasks()).length === begun, 60_000);
      expect((await tasks()).map(({ status }) => status)).toEqual(Array(begun).fill("canceled"));
      expect(model.requests).toHaveLength(0);
      for (const id of ids) expect((await after.call(`/runs/${id}`)).body.status).toBe("canceled");
    } finally {
      await Promise.all([agents.close(), runs.close()]);
      await after.stop("SIGKILL");
      await manus?.stop("SIGKILL");
      await model.close();
      await rm(home, { recursive: true, force: true });
    }
  });
