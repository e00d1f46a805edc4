import { expect, test } from "bun:test";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { checkoutForTest, liveServer } from "../src/testing/checkout.ts";

const node = Bun.which("node");
if (node === null) console.warn("The installed command is not tried: it needs Node.");
const commandLine = resolve(import.meta.dir, "../src/cli/main.ts");

/**
 * Installs the command in a folder as npm does, with Bun and this checkout's command line beside
 * it.
 */
async function install(root: string): Promise<string> {
  const command = join(root, "node_modules/manyhands/bin/manyhands.js");
  await cp(join(import.meta.dir, "manyhands.js"), command);
  await writeFile(join(root, "node_modules/manyhands/package.json"), '{ "type": "module" }');
  await mkdir(join(root, "node_modules/manyhands/gateway/src"), { recursive: true });
  await writeFile(
    join(root, "node_modules/manyhands/gateway/src/main.js"),
    `await import(${JSON.stringify(commandLine)});`,
  );
  await mkdir(join(root, "node_modules/bun/bin"), { recursive: true });
  await writeFile(join(root, "node_modules/bun/package.json"), '{ "name": "bun" }');
  await symlink(process.execPath, join(root, "node_modules/bun/bin/bun.exe"));
  return command;
}

test.skipIf(node === null)("when the installed command is killed, the system it started ends too", async () => {
  await using checkout = await checkoutForTest({ agents: { manus: liveServer } });
  const [gateway, manus] = [freePort(), freePort()];
  const env = {
    PATH: process.env.PATH,
    HOME: checkout.root,
    MANYHANDS_HOME: join(checkout.root, "home"),
    GATEWAY_PORT: String(gateway),
    MANUS_PORT: String(manus),
  };
  const options = { cwd: checkout.root, env, stdin: "ignore", stdout: "ignore", stderr: "pipe" } as const;
  const child = Bun.spawn([node ?? "", await install(checkout.root), "start"], options);
  const said = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let text = "";
    for (let piece = await said.read(); !piece.done; piece = await said.read()) {
      text += piece.value;
      if (text.includes("\nUp. ")) break;
    }
    expect(text).toContain("\nUp. ");
    expect((await fetch(`http://127.0.0.1:${gateway}/healthz`)).status).toBe(200);
  } finally {
    child.kill("SIGKILL");
  }
  // It stops printing only once the command line, which holds the other end, is gone.
  let rest = "";
  for (let piece = await said.read(); !piece.done; piece = await said.read()) rest += piece.value;
  expect(rest).toContain("Stopping: ");
  for (const port of [gateway, manus])
    expect(await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => "gone")).toBe("gone");
});
