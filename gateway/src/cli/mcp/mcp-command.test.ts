import { expect, test } from "bun:test";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { mcpServerByHand, mcpTool } from "manyhands/internal/testing/mcp/server-by-hand";
import { cliForTest } from "../../testing/cli.ts";

const fixtures = resolve(import.meta.dir, "../../../../test/mcp");
const secret = `\${SECRET_OF_MINE:-a=b}`;
const program = [process.execPath, join(fixtures, "hostile.fixture.ts")];

test("a server is added, listed, tested and removed; the rest of the file stays", async () => {
  await using cli = await cliForTest({});
  await chmod(cli.cwd, 0o711);
  const file = join(cli.cwd, "mcp.json");
  await writeFile(
    file,
    JSON.stringify({
      other: 1,
      mcpServers: { web: { url: "https://x.example/mcp", headers: { A: secret.replace(":-a=b", "") } } },
    }),
  );
  expect(await cli.run("mcp", "add", "h", "--env", `TOKEN=${secret}`, "--", ...program, "plain", "--flag")).toBe(0);
  const json = JSON.parse(await readFile(file, "utf8"));
  expect(json).toMatchObject({
    other: 1,
    mcpServers: {
      h: { command: program[0], args: [program[1], "plain", "--flag"], env: { TOKEN: secret } },
    },
  });
  expect(await cli.run("mcp", "remove", "web")).toBe(0);
  expect(await cli.run("mcp", "list")).toBe(0);
  expect(cli.out()).toContain(`h  program, sandboxed  ${program.join(" ")} plain --flag`);
  expect(await cli.run("mcp", "test", "h")).toBe(0);
  expect(cli.out()).toMatch(/h__echo +Echoes\./);
  expect(await cli.run("mcp", "approve", "h")).toBe(0);
  expect(cli.said()).toContain("Approved 16 tools of h");
});

test("servers are listed whatever is set here, with the variables agents will need", async () => {
  await using cli = await cliForTest({});
  const header = `Authorization: Bearer \${TOKEN_OF_NOBODY}`;
  expect(await cli.run("mcp", "add", "web", "--url", "https://x.example/mcp", "--header", header)).toBe(0);
  expect(await cli.run("mcp", "list")).toBe(0);
  expect(cli.out()).toContain("web  http  https://x.example/mcp");
  const { mcpServers } = JSON.parse(await readFile(join(cli.cwd, "mcp.json"), "utf8"));
  expect(mcpServers.web.headers).toEqual({ Authorization: header.slice("Authorization: ".length) });
  expect(cli.said()).toContain("the environment variable TOKEN_OF_NOBODY, which is not set");
  expect(await cli.run("mcp", "list", "--json")).toBe(0);
  expect(cli.out()).toContain('"kind": "http"');
});

test("a test of a server names the tools that are left out for their definition, and shows the others", async () => {
  using web = mcpServerByHand();
  web.tools = [mcpTool("echo"), { ...mcpTool("odd"), inputSchema: { type: "string" } }] as never;
  await using cli = await cliForTest({});
  expect(await cli.run("mcp", "add", "w", "--url", web.url)).toBe(0);
  expect(await cli.run("mcp", "test", "w")).toBe(0);
  expect(cli.out()).toMatch(/w__echo +The tool echo/);
  expect(cli.out()).toContain("left out because its definition is invalid: odd: inputSchema.type");
  expect(await cli.run("mcp", "test", "w", "--json")).toBe(0);
  expect(cli.out()).toContain('"invalid": [\n    "odd: ');
});

test("an entry that agents would refuse is not written", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("mcp", "add", "x")).toBe(2);
  expect(await cli.run("mcp", "add", "x", "--url", "file:///etc/passwd")).toBe(2);
  const here = ["--url", "http://127.0.0.1:9/mcp"];
  expect(await cli.run("mcp", "add", "x", ...here, "--trust", "sandboxed", "--env", "A=b")).toBe(2);
  expect(cli.said()).toContain("--env and --trust cannot be given for a server reached by a URL.");
  expect(await cli.run("mcp", "add", "x", "--header", "A: b", "--", ...program)).toBe(2);
  for (const header of [": b", "A"]) expect(await cli.run("mcp", "add", "x", ...here, "--header", header)).toBe(2);
  expect(await Bun.file(join(cli.cwd, "mcp.json")).exists()).toBe(false);
});

test("a server that cannot be used fails the command with a clear message", async () => {
  await using cli = await cliForTest({});
  await chmod(cli.cwd, 0o711);
  await cli.run("mcp", "add", "dead", "--", ...program, "exit");
  expect(await cli.run("mcp", "test", "dead")).toBe(1);
  expect(cli.said()).toContain("it ended (exit code 3)");
  expect(await cli.run("mcp", "login", "dead")).not.toBe(0);
});
