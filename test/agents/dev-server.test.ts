import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { freePort } from "manyhands/internal/http/free-port";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { availableTiers } from "../../shared/src/testing/sandbox/tiers.ts";
import { sendBySdk } from "../e2e/sdk-client.ts";
import { type AgentServer, startAgent } from "../servers/manus-server.ts";

setDefaultTimeout(90_000);

const canRun = (await availableTiers()).includes("bwrap") && Bun.which("socat") !== null;
const machine = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("of the machine") });

let home: string;
let model: ScriptedModel;
let swe: AgentServer;

const page = "<h1>Sums</h1><button onclick=\"document.title = 'done'\">Count again</button>";
const begin = `echo '${page}' > index.html; python3 -m http.server 8000 > server.log 2>&1 &`;
const ready = "until (: </dev/tcp/127.0.0.1/8000) 2>/dev/null; do sleep 0.05; done; echo listening";
const calls = [
  { name: "bash", args: { command: begin } },
  { name: "bash", args: { command: ready } },
  { name: "browser_go_to_url", args: { url: "localhost:8000" } },
  { name: "browser_go_to_url", args: { url: `http://localhost:${machine.port}/` } },
  { name: "terminate", args: { status: "success", summary: "The page shows its heading." } },
];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "dev-server-"));
  await chmod(home, 0o711);
  model = await startScriptedModel(({ messages }) => {
    const done = messages.filter(({ role }) => role === "tool").length;
    const call = calls[done];
    return call === undefined ? { content: "Done." } : { calls: [call] };
  });
  const scripted = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted" };
  swe = startAgent("swe", { MANYHANDS_HOME: home, PORT: `${freePort()}`, ...scripted });
  await swe.ready;
});

afterAll(async () => {
  await swe?.stop("SIGKILL");
  await Promise.all([model.close(), machine.stop(true)]);
  await rm(home, { recursive: true, force: true });
});

test.if(canRun)(
  "SWE starts a server, sees its page, and is not asked about it; the machine's ports stay closed",
  async () => {
    const task = await sendBySdk(swe.url, "Show me what the page looks like.");
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    const seen = model.requests.map(({ body }) => JSON.stringify(body.messages));
    expect(seen[3]).toContain("Count again");
    expect(seen[4]).toContain("Nothing listens on port");
    expect(seen.join()).not.toContain("of the machine");
  },
);
