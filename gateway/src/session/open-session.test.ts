import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import type { CliContext } from "./context.ts";
import { openSession, type Partner } from "./open-session.ts";

let home: string;
let port: number;
/** How the gateway answers for the card of an agent that is in no file. */
let cardStatus = 404;
const cards: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ url, headers }) {
    const { pathname } = new URL(url);
    if (pathname.endsWith("/healthz")) return Response.json({ agent: "gateway" });
    cards.push(`${pathname} ${headers.get("Authorization")}`);
    return new Response("{}", { status: cardStatus });
  },
});
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-open-session-"));
  port = Number(server.port);
  const agents = [{ name: "guest", url: "http://guest.example" }];
  await writeFile(join(home, "agents.json"), JSON.stringify({ agents }));
});
afterAll(async () => {
  await server.stop(true);
  await rm(home, { recursive: true });
});

/** Opens a session where gateway and agents are up, and returns where it connected. */
async function connected(partner: Partner) {
  const url = `http://127.0.0.1:${port}`;
  const env = {
    ...{
      MANYHANDS_HOME: home,
      GATEWAY_PORT: String(port),
      MANUS_URL: `${url}/manus`,
      MANYHANDS_TOKEN: "own-token-here",
    },
    ...{ MANYHANDS_GATEWAY_PUBLIC_URL: "https://team.example", MANYHANDS_AGENTS_MANUS_PUBLIC_URL: "https://m.example" },
  };
  const config = await loadConfig({ cwd: home, env });
  const made: unknown[] = [];
  const context = {
    ...{ root: "/", cwd: home, env },
    terminal: { say: () => undefined },
    connect: async (address: string, credentials: object | undefined, publicUrl?: string) => {
      made.push([address.replace(url, ""), credentials !== undefined, publicUrl]);
      return { url: address };
    },
  } as unknown as CliContext;
  const session = await openSession(partner, config, context);
  await session.close();
  expect(session.passing).toBe(false);
  return made;
}

const throughGateway = (name: string) => [[`/a2a/${name}`, true, `https://team.example/a2a/${name}`]];

test("an agent of this system is spoken to directly, or through the gateway if the run is the gateway's", async () => {
  expect(await connected({ agent: "manus" })).toEqual([["/manus", true, "https://m.example"]]);
  expect(await connected({})).toEqual(await connected({ agent: "manus" }));
  expect(await connected({ agent: "manus", byGateway: true })).toEqual(throughGateway("manus"));
});

test("a flow and a registered agent are spoken to through the gateway, in our own name", async () => {
  expect(await connected({ flow: "debate" })).toEqual(throughGateway("debate"));
  expect(await connected({ agent: "guest" })).toEqual(throughGateway("guest"));
  expect(cards).toEqual([]);
});

test("an agent that no file names is there if the gateway knows it, whoever may read its card", async () => {
  for (const status of [200, 401, 403]) {
    cardStatus = status;
    expect(await connected({ agent: "new/one" })).toEqual(throughGateway("new/one"));
  }
  expect(new Set(cards)).toEqual(new Set(["/a2a/new%2Fone/.well-known/agent-card.json Bearer own-token-here"]));
  cardStatus = 404;
  await expect(connected({ agent: "nobody" })).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringMatching(/^There is no agent "nobody"\. There are: manus, .*guest; .* agents add URL/),
  });
  await expect(connected({ flow: "nobody" })).rejects.toMatchObject({ code: "invalid_input" });
});
