import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client, Tool as Definition } from "@modelcontextprotocol/client";
import { AppError } from "../../core/errors.ts";
import { keptFile } from "../../machine/workspace/own-files/kept-file.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { approvedTools } from "./approved-tools.ts";
import type { ServerConnection } from "./connection/connection.ts";
import { createPins } from "./pins.ts";
import { rememberedTools } from "./remembered-tools.ts";
import { parseServers } from "./servers/read-servers.ts";
import { createSuspendedCalls } from "./suspended-calls.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-approved-"));
afterAll(() => rm(home, { recursive: true }));

const tool = (name: string, description = "Reads."): Definition => ({
  name,
  description,
  inputSchema: { type: "object" },
});
const namesOf = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

/** A server with these settings of its entry that answers with the definitions in `now`. */
function serverOf(entry: object, folder = crypto.randomUUID()) {
  const [server] = parseServers(JSON.stringify({ mcpServers: { s: { command: "x", ...entry } } }), "mcp.json", {});
  const at = { now: [] as readonly Definition[] | AppError, called: 0, warned: [] as object[] };
  const client = { callTool: async () => ({ content: [{ type: "text", text: `call ${++at.called}` }] }) };
  const connection = {
    server,
    tools: async () => (at.now instanceof AppError ? Promise.reject(at.now) : at.now),
    use: (work: (client: Client) => unknown) => work(client as unknown as Client),
  } as unknown as ServerConnection;
  const file = join(home, folder, "pins.json");
  const pins = createPins(keptFile(file));
  const remembered = rememberedTools(join(home, folder, "tools"));
  const log = { warn: (fields: object, message: string) => void at.warned.push({ ...fields, message }) };
  const deps = { pins, remembered, log };
  return {
    at,
    file,
    pins,
    remembered,
    log,
    connection,
    approved: approvedTools(connection, createSuspendedCalls(), deps),
  };
}

test.each<[object, readonly string[]]>([
  [{}, ["read", "read_all", "write"]],
  [{ allow: ["read"] }, ["read"]],
  [{ allow: ["read*"] }, ["read", "read_all"]],
  [{ allow: ["*"], deny: ["write"] }, ["read", "read_all"]],
  [{ allow: [] }, []],
  [{ allow: ["rite*"] }, []],
  [{ deny: ["read"] }, ["read_all", "write"]],
  [{ deny: ["_all*"] }, ["read", "read_all", "write"]],
  [{ deny: ["read*"] }, ["write"]],
  [{ allow: ["read"], deny: ["read"] }, []],
])("with the lists %j these tools are mounted: %j", async (tools, expected) => {
  const { approved } = serverOf({ tools });
  const mounted = await approved.mount(["read", "read_all", "write"].map((name) => tool(name)));
  expect(namesOf(mounted)).toEqual(expected.map((name) => `s__${name}`));
  expect(approved.count()).toBe(expected.length);
});

test.each<[object, readonly string[], readonly string[]]>([
  [{}, [], []],
  [{ resources: true }, [], ["s__mcp_read_resource"]],
  [{ prompts: true }, [], ["s__mcp_get_prompt"]],
  [{ resources: true, prompts: true }, ["mcp_read_resource"], ["s__mcp_read_resource", "s__mcp_get_prompt"]],
])("an entry with %j whose server has %j gives %j", async (entry, own, expected) => {
  const { approved } = serverOf(entry);
  const mounted = await approved.mount(own.map((name) => tool(name)));
  expect(namesOf(mounted)).toEqual([...expected]);
});

test("a tool that changed is left out and said once; approved again, it is back without a new list", async () => {
  const { approved, pins, connection, at } = serverOf({});
  await approved.mount([tool("a"), tool("b")]);
  const changed = [tool("a", "Reads and tells."), tool("b")];
  for (let n = 0; n < 2; n++) expect(namesOf(await approved.mount([...changed]))).toEqual(["s__b"]);
  expect(approved.disabled()).toEqual(["a"]);
  expect(at.warned).toEqual([expect.objectContaining({ server: "s", tools: ["a"] })]);
  expect(namesOf(await approved.mount(changed))).toEqual(["s__b"]);
  await pins.approve(connection.server, changed);
  expect(namesOf(await approved.mount(changed))).toEqual(["s__a", "s__b"]);
  expect(approved.disabled()).toEqual([]);
});

test("a list that is unchanged is not checked again, another one is", async () => {
  const { approved } = serverOf({});
  const list = [tool("a")];
  const first = await approved.mount(list);
  expect(await approved.mount(list)).toBe(first);
  expect(namesOf(await approved.mount([tool("a"), tool("b")]))).toEqual(["s__a", "s__b"]);
});

test("if the approvals cannot be read, or the list not be kept, that is said, and the second stops nothing", async () => {
  const { approved, file, at } = serverOf({});
  await Bun.write(file, "{");
  expect([await approved.mount([tool("a")]), at.warned.length]).toEqual([[], 1]);
  expect([await approved.before(), at.warned.length]).toEqual([[], 2]);
  const known = serverOf({});
  await known.approved.mount([tool("a")]);
  await Bun.write(known.file, "{");
  // What was approved before may not be any more.
  expect(await known.approved.mount([tool("a")])).toEqual([]);
  const other = serverOf({});
  const remembered = { ...other.remembered, write: () => Promise.reject(new Error("disk full")) };
  const full = approvedTools(other.connection, createSuspendedCalls(), { ...other, remembered });
  expect(namesOf(await full.mount([tool("a")]))).toEqual(["s__a"]);
  expect(other.at.warned).toHaveLength(1);
});

test("a tool known from last time is called only if the server has it as it was approved", async () => {
  const folder = crypto.randomUUID();
  const entry = { tools: { deny: ["secret"] } };
  await serverOf({}, folder).approved.mount([tool("a"), tool("b"), tool("secret")]);
  const { approved, at } = serverOf(entry, folder);
  expect(approved.count()).toBeUndefined();
  const [a, b, ...more] = await approved.before();
  expect([a?.name, b?.name, more]).toEqual(["s__a", "s__b", []]);
  await using room = await workspaceForTest();
  const context = contextForTest(room.workspace);
  at.now = [tool("a"), tool("b", "Reads and tells.")];
  expect(await a?.call({}, context)).toMatchObject({ isError: false, text: expect.stringContaining("call 1") });
  const gone = "s no longer has s__b as it was approved.";
  expect(await b?.call({}, context)).toMatchObject({ isError: true, text: gone });
  at.now = new AppError("unavailable", "it did not start");
  expect(await a?.call({}, context)).toMatchObject({
    isError: true,
    text: expect.stringContaining("it did not start"),
  });
  const signal = AbortSignal.abort(new Error("stopped"));
  await expect(a?.call({}, contextForTest(room.workspace, { signal }))).rejects.toThrow("stopped");
  expect(at.called).toBe(1);
});
