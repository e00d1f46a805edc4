import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { eventually, rpc, textMessage } from "../a2a/rpc.ts";
import { startManus } from "../servers/manus-server.ts";

const turns = 6;
const killAt = 3;
/** How long each part of it may take. */
export const patience = 60_000;

/** Passes connections on to the first of these ports that listens, like a balancer. */
export async function startBalancer(ports: readonly number[]) {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    const attempt = ([port, ...others]: readonly number[]) => {
      if (port === undefined) return void client.destroy();
      const backend = connect(port, "127.0.0.1");
      let isOpen = false;
      backend.once("connect", () => {
        isOpen = true;
        sockets.add(backend);
        client.pipe(backend).pipe(client);
      });
      backend.on("error", () => (isOpen ? client.destroy() : attempt(others)));
      backend.on("close", () => isOpen && client.destroy());
      client.on("close", () => backend.destroy());
    };
    client.on("error", () => undefined);
    attempt(ports);
  });
  const port = freePort();
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/**
 * A task of two replicas of Manus, of which the one that executes it is killed while it waits for
 * the model. Returns what the model was asked and what the tools did.
 */
export async function killInTheMiddle(engine: Record<string, string>, portsOfRestate: readonly number[] = []) {
  const home = await mkdtemp(join(tmpdir(), "shared-store-"));
  const asked: { readonly turn: number; readonly at: number; readonly by: number }[] = [];
  const model: ScriptedModel = await startScriptedModel(({ messages }, n) => {
    const turn = messages.filter(({ role }) => role === "tool").length;
    asked.push({ turn, at: performance.now(), by: Number(model.requests[n]?.path.split("/")[1]) });
    if (turn === turns) return { calls: [{ name: "terminate", args: { status: "success", summary: "Written." } }] };
    const isKilled = turn === killAt && asked.filter((one) => one.turn === killAt).length === 1;
    return {
      calls: [
        { name: "str_replace_editor", args: { command: "create", path: `${turn}.txt`, file_text: `turn ${turn}` } },
      ],
      ...(isKilled && { delayMs: patience }),
    };
  });
  const replicas = [0, 1].map((n) => {
    const port = portsOfRestate[n];
    return startManus({
      ...{ MANYHANDS_HOME: home, PORT: String(freePort()), SANDBOX: "off" },
      ...{ OPENAI_BASE_URL: model.url.replace(/\/v1$/, `/${n}/v1`), OPENAI_API_KEY: "none" },
      ...{ MANYHANDS_MODEL: "scripted", ...engine },
      ...(port !== undefined && { MANYHANDS_ENGINE_RESTATE_PORT: String(port) }),
    });
  });
  try {
    await Promise.all(replicas.map(({ ready }) => ready));
    const configuration = { returnImmediately: true };
    const { body } = await rpc(replicas[0]?.url ?? "", "SendMessage", textMessage("Write a trail", {}, configuration));
    const { id } = body.result.task;
    // Either may execute what one of them accepted.
    const { by } = await eventually(() => asked.find(({ turn }) => turn === killAt), patience);
    const [executing, other] = [replicas[by], replicas[1 - by]];
    if (executing === undefined || other === undefined) throw new Error("There are two.");
    const killed = performance.now();
    await executing.stop("SIGKILL");
    const again = await eventually(() => asked.find(({ at }) => at > killed), patience);
    const task = await eventually(async () => {
      const { result } = (await rpc(other.url, "GetTask", { id })).body;
      return /COMPLETED|FAILED/.test(result.status.state) ? result : undefined;
    }, patience);
    const written = await Array.fromAsync(new Bun.Glob("workspaces/**/*.txt").scan({ cwd: home }));
    const files = written.map((path) => basename(path)).toSorted();
    return { state: task.status.state, asked: asked.map(({ turn }) => turn), files, tookMs: again.at - killed };
  } finally {
    await Promise.all(replicas.map((replica) => replica.stop("SIGKILL")));
    await model.close();
    await rm(home, { recursive: true });
  }
}
