import { afterAll, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";
import { cliForTest } from "../../testing/cli.ts";
import { echo, echoRun, startGateway } from "../../testing/gateway.ts";

const gateway = await startGateway({
  flows: [{ runnable: { ...echo, name: "debate", kind: "debate", title: "It Echoes" }, execute: echoRun }],
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** A folder where only `mine.toml` names the gateway. */
async function folderOfChat(options: Parameters<typeof cliForTest>[0] = {}) {
  const cli = await cliForTest({ reallyConnects: true, ...options });
  await writeFile(join(cli.cwd, "manyhands.toml"), "not the settings that are named");
  const settings = `[gateway]\nport = ${new URL(gateway.url).port}\n[daytona]\ndaytona_api_key = "k"\n`;
  await writeFile(join(cli.cwd, "mine.toml"), settings);
  return cli;
}

test("a chat says with whom it is, what of the settings is not used, and shows answers as text", async () => {
  await using cli = await folderOfChat({ answers: ["tabs?"] });
  expect(await cli.run("chat", "--flow", "debate", "--config", "mine.toml")).toBe(0);
  expect(cli.said()).toContain("[daytona] is not used");
  expect(cli.said()).toContain("It Echoes · model unknown\n/help lists the commands, /exit ends.\n");
  expect(cli.out()).toContain("tabs?");
  expect(cli.out()).not.toContain('"kind"');
});

test("Ctrl-C cancels the task of a chat through a pipe, which then goes on", async () => {
  await using cli = await folderOfChat();
  const main = resolve(import.meta.dir, "../main.ts");
  const chat = Bun.spawn([process.execPath, main, "chat", "--flow", "debate", "--config", "mine.toml"], {
    cwd: cli.cwd,
    env: { ...bareEnvironment(), NO_COLOR: "1" },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const said = chat.stderr.text();
  let out = "";
  chat.stdin.write("sleep well\n");
  for await (const piece of chat.stdout.pipeThrough(new TextDecoderStream())) {
    if (out === "") chat.kill("SIGINT");
    out += piece;
    if (piece.includes("■ canceled")) chat.stdin.write("good morning\n/exit\n");
  }
  expect([await chat.exited, out.match(/■ canceled|good morning|✓ completed/g)]).toEqual([
    0,
    ["■ canceled", "good morning", "✓ completed"],
  ]);
  expect(await said).toContain("Canceling …");
});
