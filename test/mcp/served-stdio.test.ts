import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { modelEnv, resultText, runs, stockClient } from "./served-agent.ts";

const main = resolve(import.meta.dir, "../../gateway/src/main.ts");

for (const mode of ["auto", "legacy"] as const)
  test(`mcp serve is the same server over stdio, with nothing but the protocol on its output (${mode})`, async () => {
    const home = await mkdtemp(join(tmpdir(), "manyhands-mcp-stdio-"));
    const model = await startScriptedModel(() => ({ text: "done" }));
    const client = stockClient({ mode });
    const faults: Error[] = [];
    client.onerror = (error) => faults.push(error);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [main, "mcp", "serve", "--agent", "manus"],
      cwd: home,
      env: { ...bareEnvironment(), ...modelEnv(model, home) },
      stderr: "ignore",
    });
    try {
      await client.connect(transport);
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      for (const name of ["bash", "str_replace_editor", "manus"]) expect(names).toContain(name);
      await client.callTool({ name: "bash", arguments: { command: "echo kept > a.txt" } });
      const viewed = await client.callTool({
        name: "str_replace_editor",
        arguments: { command: "view", path: "a.txt" },
      });
      expect(resultText(viewed)).toContain("kept");
      expect(resultText(await client.callTool({ name: "manus", arguments: { task: "Say done." } }))).toBe("done");
      const gone = new AbortController();
      const command = `sleep ${mode === "auto" ? 63 : 64}.${process.pid}`;
      const calling = client.callTool({ name: "bash", arguments: { command } }, { signal: gone.signal });
      calling.catch(() => undefined);
      while (!(await runs(command))) await Bun.sleep(10);
      gone.abort();
      while (await runs(command)) await Bun.sleep(10);
      const { pid } = transport;
      await client.close();
      // It exits when its input ends; otherwise the transport would wait and then kill it.
      expect(() => process.kill(pid ?? 0, 0)).toThrow();
      expect(faults).toEqual([]);
      // Its runs are those of whoever started it, as from the command line.
      using journal = new Database(join(home, "runs.db"), { readonly: true });
      expect(journal.query("SELECT DISTINCT principal FROM runs").all()).toEqual([{ principal: "local" }]);
    } finally {
      await client.close();
      await model.close();
      await rm(home, { recursive: true, force: true });
    }
  });

for (const mode of ["auto", "legacy"] as const)
  test(`a person at a client over stdio is asked for decisions (${mode})`, async () => {
    const home = await mkdtemp(join(tmpdir(), "manyhands-mcp-stdio-"));
    await writeFile(join(home, "manyhands.toml"), '[agents.manus]\napprove = ["python_execute"]\n');
    const model = await startScriptedModel(() => ({ text: "done" }));
    const client = stockClient({ mode, allow: true });
    const asked: string[] = [];
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params.message);
      return { action: "accept" as const, content: { allow: asked.length === 1 } };
    });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [main, "mcp", "serve", "--agent", "manus"],
      cwd: home,
      env: { ...bareEnvironment(), ...modelEnv(model, home) },
      stderr: "ignore",
    });
    try {
      await client.connect(transport);
      const made = await client.callTool({ name: "python_execute", arguments: { code: "print(6 * 7)" } });
      expect(resultText(made)).toContain("42");
      expect(asked).toEqual([expect.stringContaining("print(6 * 7)")]);
      const refused = await client.callTool({ name: "python_execute", arguments: { code: "print(5 * 11)" } });
      expect([asked.length, refused.isError]).toEqual([2, true]);
      expect(resultText(refused)).not.toContain("55");
    } finally {
      await client.close();
      await model.close();
      await rm(home, { recursive: true, force: true });
    }
  });
