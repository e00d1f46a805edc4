import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, cp, mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CodePlace, callIn, openCodePlace } from "../../../testing/code/code-place.ts";
import { languageServerTool } from "./language-server.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await openCodePlace();
});
afterAll(() => place.close());

/** A server that answers as its arguments say; in Python, which every machine of the tests has. */
const fake = `#!/usr/bin/python3
import json, sys
def read():
    length = 0
    while True:
        line = sys.stdin.buffer.readline().strip()
        if not line: break
        length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length)) if length else sys.exit()
def send(**content):
    body = json.dumps({"jsonrpc": "2.0", **content}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body); sys.stdout.buffer.flush()
span = lambda line, at: {"start": {"line": line, "character": at}, "end": {"line": line, "character": at + 1}}
while True:
    m = read(); method = m.get("method"); params = m.get("params") or {}
    if method == "initialize":
        root = params["rootUri"]
        send(id="s1", method="workspace/configuration", params={"items": [{}, {}]})
        settings = read()["result"]; send(id=m["id"], result={"capabilities": {}})
    elif method == "textDocument/didOpen":
        uri = params["textDocument"]["uri"]
        send(method="textDocument/publishDiagnostics", params={"uri": uri, "diagnostics": []})
        send(method="textDocument/publishDiagnostics", params={"uri": root + "/other.py", "diagnostics": [{"range": span(0, 0), "message": "not this"}]})
        send(method="textDocument/publishDiagnostics", params={"uri": uri, "diagnostics": [
            {"range": span(1, 4), "message": "wrong type\\u202e\\nof a"}, {"range": span(0, 0), "severity": 4, "message": "a hint"}]})
    elif method == "textDocument/definition":
        at = params["position"]; send(id=m["id"], result={"uri": uri, "range": span(at["line"] - 1, at["character"])})
    elif method == "textDocument/references": send(id=m["id"], result=None if settings == [{}, {}] else 1)
`;

async function withFake() {
  const workspace = await place.project({
    "app/pyproject.toml": "",
    "app/node_modules/.bin/pyright-langserver": fake,
    "app/a.py": "total = 1\nx = total\n",
  });
  await chmod(join(workspace.root, "app/node_modules/.bin/pyright-langserver"), 0o755);
  const call = callIn(workspace);
  return (rest: object) => call(languageServerTool(place), { path: "app/a.py", ...rest });
}

test("definitions, references and published problems are what the server says, in lines as people count", async () => {
  const ask = await withFake();
  const at = { line: 2, symbol: "total" };
  expect((await ask({ command: "definition", ...at })).text).toBe("app/a.py:1:5: total = 1");
  expect((await ask({ command: "references", ...at })).text).toBe(
    "The language server knows no references of total there.",
  );
  expect((await ask({ command: "diagnostics" })).text).toBe("app/a.py:2:5: error: wrong type of a");
});

test("what cannot be answered says why", async () => {
  const ask = await withFake();
  expect((await ask({ command: "definition", line: 2, symbol: "tot" })).text).toContain(
    "tot is not on line 2 of app/a.py, which is: x = total",
  );
  expect((await ask({ command: "definition" })).text).toContain("Give the line and the symbol");
  expect((await ask({ command: "diagnostics", path: "app/gone.py" })).isError).toBe(true);
  expect((await ask({ command: "diagnostics", path: "app/notes.txt" })).text).toContain(
    "no language server for app/notes.txt",
  );
  const none = await place.project({ "a.rs": "fn main() {}" });
  const { text } = await callIn(none)(languageServerTool(place), { command: "diagnostics", path: "a.rs" });
  if (Bun.which("rust-analyzer") === null)
    expect(text).toContain("No language server for this file is installed (rust-analyzer)");
  const odd = await place.project({
    "app/package.json": "",
    "app/a.ts": "",
    "app/node_modules/.bin/typescript-language-server": "#!/bin/sh\necho nonsense; printf '\\r\\n\\r\\n'; sleep 60\n",
  });
  await chmod(join(odd.root, "app/node_modules/.bin/typescript-language-server"), 0o755);
  expect((await callIn(odd)(languageServerTool(place), { command: "diagnostics", path: "app/a.ts" })).text).toContain(
    "cannot be read",
  );
});

/** TypeScript's own program, which the project has as a development dependency. */
function typescriptHere(): string | undefined {
  try {
    const main = import.meta.resolve("typescript/package.json");
    const platform = `@typescript/typescript-${process.platform}-${process.arch}/package.json`;
    return dirname(Bun.resolveSync(platform, dirname(fileURLToPath(main))));
  } catch {
    return undefined;
  }
}

const typescript = typescriptHere();

test.if(typescript !== undefined)(
  "TypeScript's own server finds definitions, uses in other files and type errors",
  async () => {
    const workspace = await place.project({
      "app/tsconfig.json": '{"compilerOptions":{"strict":true,"noLib":true}}',
      "app/sum.ts": "export function total(a: number): number {\n  return a;\n}\n",
      "app/use.ts": 'import { total } from "./sum";\nconst x: string = total(1);\n',
    });
    const bin = join(workspace.root, "app/node_modules/.bin");
    await cp(join(typescript ?? "", "lib"), join(bin, "../typescript/lib"), { recursive: true });
    await mkdir(bin);
    await symlink("../typescript/lib/tsc", join(bin, "tsc"));
    await workspace.adopt(".");
    const ask = (rest: object) => callIn(workspace)(languageServerTool(place), { path: "app/use.ts", ...rest });
    const at = { line: 2, symbol: "total" };
    expect((await ask({ command: "definition", ...at })).text).toBe(
      "app/sum.ts:1:17: export function total(a: number): number {",
    );
    expect((await ask({ command: "references", ...at })).text.split("\n").toSorted()).toEqual([
      "app/sum.ts:1:17: export function total(a: number): number {",
      'app/use.ts:1:10: import { total } from "./sum";',
      "app/use.ts:2:19: const x: string = total(1);",
    ]);
    expect((await ask({ command: "diagnostics" })).text).toContain(
      "app/use.ts:2:7: error: Type 'number' is not assignable to type 'string'.",
    );
  },
);
