// scratch: hop latency; ROUNDS, PROF=gateway|agent
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import { median, timed } from "../bench-server.ts";
const root = process.env.ROOT ?? resolve(import.meta.dir, "../../..");
const folder = mkdtempSync(join(tmpdir(), "perf-b-hop-"));
async function startServer(name: string, entry: string) {
  const home = mkdtempSync(join(folder, `${name}-`));
  const prof = process.env.PROF === name ? ["--cpu-prof", "--cpu-prof-dir", "/tmp/perf-b/prof", "--cpu-prof-name", `${name}.cpuprofile`] : [];
  const child = Bun.spawn([process.execPath, ...prof, entry], { cwd: home, env: { PATH: process.env.PATH ?? "", MANYHANDS_HOME: home, PORT: "0", SANDBOX: "off", ...(process.env.TRACE_TX?{TRACE_TX:"1"}:{}) }, stdout: "pipe", stderr: "inherit" });
  let said = ""; const d = new TextDecoder();
  for await (const c of child.stdout) { said += d.decode(c); const url = /ready (http:\/\/[^/\s]+)/.exec(said)?.[1]; if (url) return { url, pid: child.pid, async stop() { child.kill(); await child.exited; } }; }
  throw new Error("not started");
}
const rounds = Number(process.env.ROUNDS ?? 300);
const agent = await startServer("agent", join(root, "test/bench/no-op-agent.ts"));
const gateway = await startServer("gateway", join(root, "gateway/src/server/main.ts"));
await (await fetch(`${gateway.url}/agents`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ url: agent.url, name: "no-op" }) })).text();
const clients = [await createA2aClient(agent.url), await createA2aClient(`${gateway.url}/a2a/no-op`)] as const;
const post = (url: string) => fetch(`${url}/message:send`, { method: "POST", headers: { "Content-Type": "application/json", "A2A-Version": "1.0" }, body: JSON.stringify({ message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "nothing" }] } }) }).then(async (r) => { const t = await r.text(); if (!r.ok || !t.includes("nothing")) throw new Error(t); });
const ways = { direct: () => clients[0].send({ text: "nothing" }), through: () => clients[1].send({ text: "nothing" }), rawDirect: () => post(agent.url), rawThrough: () => post(`${gateway.url}/a2a/no-op`) };
const times: Record<string, number[]> = { direct: [], through: [], rawDirect: [], rawThrough: [] };
const cpu = async (pid: number) => { const s = (await Bun.file(`/proc/${pid}/stat`).text()).split(") ")[1]!.split(" "); return (Number(s[11]) + Number(s[12])) * 10; };
for (let r = -50; r < rounds; r++) for (const [n, w] of Object.entries(ways)) { const t = await timed(w); if (r >= 0) times[n]!.push(t); }
const c0 = [await cpu(agent.pid), await cpu(gateway.pid)];
const alone: number[] = [];
for (let r = 0; r < rounds; r++) alone.push(await timed(ways.rawThrough));
const c1 = [await cpu(agent.pid), await cpu(gateway.pid)];
const aloneD: number[] = [];
for (let r = 0; r < rounds; r++) aloneD.push(await timed(ways.rawDirect));
const c2 = [await cpu(agent.pid), await cpu(gateway.pid)];
const q = (v: number[]) => `${median(v).toFixed(2)} (p90 ${v.toSorted((a, b) => a - b)[Math.floor(v.length * 0.9)]!.toFixed(2)})`;
console.log(Object.entries(times).map(([n, v]) => `${n} ${q(v)}`).join("  "), ` extra ${median(times.through!.map((t, i) => t - times.direct![i]!)).toFixed(2)} rawExtra ${median(times.rawThrough!.map((t, i) => t - times.rawDirect![i]!)).toFixed(2)}`);
console.log(`raw alone: through ${q(alone)} direct ${q(aloneD)}; cpu ms/task through: agent ${((c1[0]! - c0[0]!) / rounds).toFixed(2)} gateway ${((c1[1]! - c0[1]!) / rounds).toFixed(2)}; direct: agent ${((c2[0]! - c1[0]!) / rounds).toFixed(2)}`);
{ const a = [await cpu(agent.pid), await cpu(gateway.pid)]; await Bun.sleep(4000); const b = [await cpu(agent.pid), await cpu(gateway.pid)]; console.log("idle cpu ms/s", (b[0]!-a[0]!)/4, (b[1]!-a[1]!)/4); }
await gateway.stop(); await agent.stop(); rmSync(folder, { recursive: true, force: true });
