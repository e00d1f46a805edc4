import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { eventually, rpc, textMessage, type Wire } from "../a2a/rpc.ts";
import { startReceiver } from "../a2a/webhook.ts";
import { startReady } from "../servers/ready-process.ts";

const fixture = resolve(import.meta.dir, "push-agent.fixture.ts");
const kills = 6;

test("a sender killed again and again, to a receiver that is down half of the time: every event arrives, in order", async () => {
  const home = await mkdtemp(join(tmpdir(), "push-kills-"));
  await using hook = startReceiver();
  let isUp = true;
  let refused = 0;
  hook.answer = () => {
    if (!isUp) refused++;
    return new Response(null, { status: isUp ? 204 : 503 });
  };
  const down = async () => {
    isUp = false;
    const before = refused;
    await eventually(() => refused > before + 2 || undefined, 30_000);
  };
  const start = () => startReady([process.execPath, fixture, home, hook.host]);
  let agent = await start();
  try {
    const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: hook.url } };
    const { body } = await rpc(agent.url, "SendMessage", textMessage("work 250", {}, configuration));
    const { id } = body.result.task;
    const seqs = () =>
      hook.received.map(({ body: told }): number => {
        const { statusUpdate, artifactUpdate } = told as Wire;
        return (statusUpdate ?? artifactUpdate).metadata["manyhands/seq"];
      });
    for (let kill = 0; kill < kills; kill++) {
      const had = hook.received.length;
      await eventually(() => hook.received.length > had + 10 || undefined, 30_000);
      if (kill % 2 === 1) await down();
      await agent.stop("SIGKILL");
      agent = await start();
      if (kill % 2 === 1) await down();
      isUp = true;
    }
    const task = await eventually(async () => {
      const { result } = (await rpc(agent.url, "GetTask", { id })).body;
      return result.status.state === "TASK_STATE_COMPLETED" ? result : undefined;
    }, 30_000);
    const last: number = task.metadata["manyhands/seq"];
    await eventually(() => seqs().includes(last) || undefined, 30_000);
    // A sender that was killed goes on somewhat earlier; it never leaves anything out.
    let most = 1;
    let returns = 0;
    for (const [n, seq] of seqs().entries()) {
      expect(seq).toBeLessThanOrEqual(most + 1);
      if (seq <= (seqs()[n - 1] ?? 0)) returns++;
      most = Math.max(most, seq);
    }
    expect(most).toBe(last);
    expect(returns).toBeLessThanOrEqual(kills);
  } finally {
    await agent.stop("SIGKILL");
    await rm(home, { recursive: true });
  }
}, 120_000);
