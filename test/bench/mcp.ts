import { type Client, Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { fixture, type HostForTest, hostForTest } from "../mcp/host-for-test.ts";
import { startHttpServer } from "../mcp/http-server.ts";

/**
 * What a call of a mounted tool costs compared with the bare client's call to the same kind of
 * server in the same minute, including what an agent does before each call, and how long mounting
 * 20 servers of 50 tools takes. Run it with `bun test/bench/mcp.ts`; it exits with 1 if a target is
 * missed.
 */
const rounds = 300;
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Medians of both, measured alternately. */
async function compare(bare: Client, tool: string, it: HostForTest, mounted: string) {
  const input = { text: "hello" };
  const taken: { bare: number[]; mounted: number[] } = { bare: [], mounted: [] };
  for (let round = 0; round < rounds; round++) {
    taken.bare.push(await timed(() => bare.callTool({ name: tool, arguments: input })));
    taken.mounted.push(await timed(() => it.call(mounted, input)));
  }
  return { bare: median(taken.bare.slice(20)), mounted: median(taken.mounted.slice(20)) };
}

const newClient = () => new McpClient({ name: "bench", version: "1" }, { versionNegotiation: { mode: "auto" } });

using server = startHttpServer();
await using it = await hostForTest({ program: fixture("many", "50"), web: { url: server.url } });
const overPipe = newClient();
const { command, args } = fixture("many", "50");
await overPipe.connect(new StdioClientTransport({ command, args }));
const overHttp = newClient();
await overHttp.connect(new StreamableHTTPClientTransport(new URL(server.url)));

const pipe = await compare(overPipe, "tool_7", it, "program__tool_7");
const http = await compare(overHttp, "echo", it, "web__echo");
await Promise.all([overPipe.close(), overHttp.close()]);

const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`server${n}`, fixture("many", "50")]));
await using many = await hostForTest(twenty);
let mounted = 0;
const mountMs = await timed(async () => {
  mounted = (await many.tools()).length;
});

const overhead = (one: typeof pipe) => one.mounted - one.bare;
const rows: [string, number, number][] = [
  [`stdio: over the bare client's ${pipe.bare.toFixed(2)} ms, median`, overhead(pipe), 1],
  [`HTTP: over the bare client's ${http.bare.toFixed(2)} ms, median`, overhead(http), 1],
  [`20 servers, ${mounted} tools mounted`, mountMs, 3_000],
];
for (const [what, ms, target] of rows)
  process.stdout.write(`${what}: ${ms.toFixed(2)} ms (target ≤ ${target}) ${ms <= target ? "ok" : "MISSED"}\n`);
if (mounted !== 1_000 || rows.some(([, ms, target]) => !(ms <= target))) process.exitCode = 1;
