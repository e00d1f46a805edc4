import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * A folder with servers of a few lines in place of the gateway's and the agents'; `await using`
 * removes it.
 */
export type CheckoutForTest = AsyncDisposable & { readonly root: string };

const ours = ["manus", "swe", "browser", "data-analysis"];

/**
 * Creates one with this gateway and these agents, by name, as the source texts of their servers;
 * `settings` are added to its `manyhands.toml`. All other agents are switched off.
 */
export async function checkoutForTest(
  sources: { readonly gateway?: string; readonly agents?: Readonly<Record<string, string>> },
  settings = "",
): Promise<CheckoutForTest> {
  const { gateway = "", agents = {} } = sources;
  const root = await mkdtemp(join(tmpdir(), "manyhands-checkout-"));
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  await write("gateway/src/server/main.ts", gateway);
  for (const [name, source] of Object.entries(agents)) await write(`agents/${name}.ts`, source);
  const tables = Object.keys(agents).map((name) => `[agents.${name}]\nentry = "agents/${name}.ts"\nport = 0\n`);
  const off = ours.filter((name) => !Object.hasOwn(agents, name));
  await write(
    "manyhands.toml",
    [settings, ...tables, ...off.map((name) => `[agents.${name}]\nenabled = false\n`)].join("\n"),
  );
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

/**
 * A server that prints that it is ready, and answers with a card, its configured public address
 * (`/public`), or its configured home.
 */
export const liveServer = `
const { PORT, HOST, MANYHANDS_HOME } = process.env;
const params = { name: "manus", model: { name: "rehearsal", provider: "rehearsal" }, sandbox: "bwrap" };
const card = { name: "Manus", capabilities: { extensions: [{ uri: "urn:manyhands:agent:1", params }] } };
const server = Bun.serve({ port: Number(PORT), hostname: HOST, fetch: (request) =>
  request.url.endsWith("/public") ? new Response(process.env.PUBLIC_URL) : request.url.endsWith("/healthz") ? Response.json({ agent: "manus" }) : request.url.endsWith("agent-card.json") ? Response.json(card) : new Response(MANYHANDS_HOME) });
console.log("ready " + server.url);
process.on("SIGTERM", () => process.exit(0));
`;
