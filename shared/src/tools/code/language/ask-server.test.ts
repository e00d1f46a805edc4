import { expect, spyOn, test } from "bun:test";
import { type ServerMessage, serverByHand } from "../../../testing/code/server-by-hand.ts";
import { askServer, type ServerAnswers } from "./ask-server.ts";
import { languageOf, noServer } from "./servers.ts";

const language = languageOf("a.py") ?? { id: "python", servers: [], install: "" };
const question = { language, workspace: "/ws", folder: "/ws/app", file: "/ws/app/a b.py", text: "x = 1\n" };
const uri = "file:///ws/app/a%20b.py";
const at = (line: number, character = 0) => ({ start: { line, character }, end: { line, character } });

/** A server with these capabilities that answers each method with this. */
const serverThat = (answers: Readonly<Record<string, unknown>>, capabilities: object = {}, opened?: ServerMessage[]) =>
  serverByHand(({ method = "", id }) => {
    if (method === "initialize") return { result: { capabilities } };
    if (method === "textDocument/didOpen") return opened;
    return id !== undefined && method in answers ? { result: answers[method] } : undefined;
  });

const ask = <T>(
  server: ReturnType<typeof serverByHand>,
  what: (answers: ServerAnswers) => Promise<T>,
  signal = new AbortController().signal,
) => askServer(question, { sandbox: server.sandbox, signal }, what);

test("a server is started for its project, told of the file as it is, and ended once it has answered", async () => {
  const server = serverThat({ "textDocument/definition": null, "textDocument/references": null });
  const place = { line: 3, column: 7 };
  await ask(server, async (answers) => {
    expect(await answers.places("definition", place)).toEqual([]);
    // What it writes there fills no pipe.
    expect(server.process()?.process.stderr.locked).toBe(true);
  });
  expect(server.process()?.done.at(-1)).toBe("kill");
  expect(server.commands).toEqual([
    {
      argv: ["sh", "-c", expect.stringContaining("pyright-langserver"), "sh", "/ws/app"],
      workspace: "/ws",
      limits: { wallMs: 60_000, processes: 100, outputBytes: Number.MAX_SAFE_INTEGER },
    },
  ]);
  await ask(server, (answers) => answers.places("references", place));
  const [begun, , opened, asked] = server.told;
  expect(begun?.params).toMatchObject({ processId: null, rootUri: "file:///ws/app" });
  expect(opened?.params).toEqual({ textDocument: { uri, languageId: "python", version: 1, text: "x = 1\n" } });
  const position = { textDocument: { uri }, position: { line: 3, character: 7 } };
  expect([asked?.params, server.told[7]?.params]).toEqual([
    position,
    { ...position, context: { includeDeclaration: true } },
  ]);
  await expect(ask(server, () => Promise.reject(new Error("a bug")))).rejects.toThrow("a bug");
  expect(server.process()?.done.at(-1)).toBe("kill");
});

test.each([
  [{ uri, range: at(1, 2) }, [{ path: "/ws/app/a b.py", line: 1, column: 2 }]],
  [[{ uri: "untitled:x", range: at(0) }], [{ path: "untitled:x", line: 0, column: 0 }]],
  [[{ uri: "no address", range: at(0) }], [{ path: "no address", line: 0, column: 0 }]],
  [
    [{ targetUri: uri, targetRange: at(9), targetSelectionRange: at(4, 5) }],
    [{ path: "/ws/app/a b.py", line: 4, column: 5 }],
  ],
  [null, []],
  [[], []],
])("where %j is", async (result, places) => {
  const server = serverThat({ "textDocument/definition": result });
  expect(await ask(server, (answers) => answers.places("definition", { line: 0, column: 0 }))).toEqual(places);
});

const diagnostics = [
  { range: at(1), message: "an error" },
  { range: at(2), severity: 1, message: "another" },
  { range: at(3), severity: 2, message: "a warning" },
  { range: at(4), severity: 3, message: "information" },
  { range: at(5), severity: 4, message: "a hint" },
];
const problems = [
  { path: "/ws/app/a b.py", line: 1, column: 0, severity: "error", message: "an error" },
  { path: "/ws/app/a b.py", line: 2, column: 0, severity: "error", message: "another" },
  { path: "/ws/app/a b.py", line: 3, column: 0, severity: "warning", message: "a warning" },
] as const;

test("errors and warnings are problems, whether a server is asked for them or tells of them", async () => {
  using _ = spyOn(Bun, "sleep").mockResolvedValue(undefined);
  const pulling = serverThat(
    { "textDocument/diagnostic": { kind: "full", items: diagnostics } },
    { diagnosticProvider: {} },
  );
  expect(await ask(pulling, (answers) => answers.problems())).toEqual([...problems]);
  const unchanged = serverThat({ "textDocument/diagnostic": { kind: "unchanged" } }, { diagnosticProvider: true });
  expect(await ask(unchanged, (answers) => answers.problems())).toEqual([]);
  const publish = (of: string, list: readonly object[]) => ({
    method: "textDocument/publishDiagnostics",
    params: { uri: of, diagnostics: list },
  });
  const told = [publish(uri, diagnostics.slice(0, 1)), publish(uri, diagnostics), publish("file:///ws/b.py", [])];
  expect(await ask(serverThat({}, {}, told), (answers) => answers.problems())).toEqual([...problems]);
});

test("what a server asks for settings is answered with none for each, and any other request with nothing", async () => {
  const asks = [
    { id: "s", method: "workspace/configuration", params: { items: [{}, {}, {}] } },
    { id: 0, method: "client/registerCapability", params: {} },
  ];
  const server = serverThat({ "textDocument/definition": null }, {}, asks);
  await ask(server, (answers) => answers.places("definition", { line: 0, column: 0 }));
  expect(server.told.filter(({ method }) => method === undefined)).toEqual([
    { jsonrpc: "2.0", id: "s", result: [{}, {}, {}] } as ServerMessage,
    { jsonrpc: "2.0", id: 0, result: null } as ServerMessage,
  ]);
});

test("whoever cancels does not wait for a server, whenever that is", async () => {
  const reason = new Error("stopped");
  const server = serverThat({});
  const definition = (answers: ServerAnswers) => answers.places("definition", { line: 0, column: 0 });
  await expect(ask(server, definition, AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(server.commands).toEqual([]);
  const waiting = new AbortController();
  const asking = ask(server, definition, waiting.signal);
  while (!server.told.some(({ method }) => method === "textDocument/definition")) await Bun.sleep(1);
  waiting.abort(reason);
  await expect(asking).rejects.toBe(reason);
  // While the program is being started.
  const starting = new AbortController();
  const { spawn } = server.sandbox;
  const slow = {
    ...server,
    sandbox: {
      ...server.sandbox,
      async spawn(command: Parameters<typeof spawn>[0]) {
        const process = await spawn(command);
        starting.abort(reason);
        return process;
      },
    },
  };
  await expect(ask(slow, () => new Promise(() => undefined), starting.signal)).rejects.toBe(reason);
});

test("a server that does not answer in time is given up, one that ends says so, and one that is missing is named", async () => {
  const never = (answers: ServerAnswers) => answers.places("definition", { line: 0, column: 0 });
  const { timeout } = AbortSignal;
  {
    using waits = spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout.call(AbortSignal, ms / 6000));
    await expect(ask(serverThat({}), never)).rejects.toMatchObject({
      code: "timeout",
      message: "The language server did not answer within 60 s.",
    });
    expect(waits.mock.calls).toEqual([[60_000]]);
  }
  const ending = (code: number) => {
    const server = serverByHand(() => {
      queueMicrotask(() => server.process()?.exits(code));
      return undefined;
    });
    return server;
  };
  await expect(ask(ending(noServer), never)).rejects.toMatchObject({
    code: "unsupported",
    message: "No language server for this file is installed (pyright).",
  });
  await expect(ask(ending(1), never)).rejects.toMatchObject({ code: "unavailable" });
});
