import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findChromium } from "../../shared/src/machine/browser-process/find-chromium.ts";
import { runCommand } from "../../shared/src/machine/sandbox/run-command.ts";
import { availableTiers, type OpenTier, openTier } from "../../shared/src/testing/sandbox/tiers.ts";

/**
 * Restrictions must not break ordinary work: programs as tasks use them, in every tier of this
 * machine.
 */
const tiers = await availableTiers();
const chromium = await findChromium({ headless: true }).catch(() => undefined);
const named = (name: string) => Bun.which(name, { PATH: "/usr/local/bin:/usr/bin:/bin" }) !== null;

const python = `
import asyncio, os, shutil, subprocess, tempfile, threading, unittest, zipfile
from concurrent.futures import ThreadPoolExecutor
class T(unittest.TestCase):
    def test_threads(self):
        with ThreadPoolExecutor(8) as pool: self.assertEqual(sum(pool.map(lambda n: n * n, range(50))), 40425)
    def test_processes(self):
        self.assertEqual(subprocess.run(["sh", "-c", "cat | wc -c"], input=b"abc", capture_output=True).stdout.strip(), b"3")
    def test_fork(self):
        pid = os.fork()
        if pid == 0: os._exit(7)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 7)
    def test_asyncio(self):
        async def work():
            process = await asyncio.create_subprocess_exec("echo", "hi", stdout=-1)
            return (await process.communicate())[0]
        self.assertEqual(asyncio.run(work()), b"hi\\n")
    def test_files(self):
        with open("own.txt", "w") as f: f.write("x")
        shutil.copy2("own.txt", "copy.txt")
        os.chmod("copy.txt", 0o600); os.utime("copy.txt", (1, 2))
        self.assertEqual((os.stat("copy.txt").st_mode & 0o777, os.stat("copy.txt").st_mtime), (0o600, 2))
        with zipfile.ZipFile("own.zip", "w") as archive: archive.write("own.txt")
        with tempfile.NamedTemporaryFile() as f: f.write(b"x")
unittest.main()
`;

const node = `
const { execFileSync, spawnSync } = require("node:child_process");
const { Worker } = require("node:worker_threads");
const { readFile, writeFile } = require("node:fs/promises");
new Worker("require('node:worker_threads').parentPort.postMessage(6 * 7)", { eval: true }).on("message", async (answer) => {
  await writeFile("n.txt", String(answer));
  const child = spawnSync(process.execPath, ["-e", "process.stdin.pipe(process.stdout)"], { input: "echoed" });
  console.log(await readFile("n.txt", "utf8"), child.stdout.toString(), execFileSync("uname", { encoding: "utf8" }).trim());
});
`;

const git = `
git init -q -b main r && cd r && git config user.name a && git config user.email a@b
echo one >a && git add a && git commit -qm one && git clone -q . ../clone && cd ../clone && git log --format=%s
`;

const compile = `
printf 'int puts(const char*); int main(void) { return puts("made") < 0; }' >m.c && gcc -o m m.c && ./m
printf '#!/bin/sh\\necho run\\n' >s && chmod +x s && ./s && touch -d 2001-01-01 s && stat -c %Y s
cp -p s p && test ! p -nt s && chmod -R go-rwx m s p && install -m 0750 s i && ./i
tar cf s.tar s && mkdir -p out && tar xf s.tar -C out && out/s
`;

/** A program created, packed and installed from the pack; nothing is fetched. */
const npm = `
mkdir -p made home && cd made && printf '#!/usr/bin/env node\nconsole.log("installed")' >program.js
echo '{"name":"made","version":"1.0.0","bin":{"made":"./program.js"}}' >package.json && npm pack --silent --cache ../cache && cd ../home
npm init -y >/dev/null && npm install --silent --offline --cache ../cache ../made/made-1.0.0.tgz && node_modules/.bin/made
`;

describe.each(tiers)("tier %s", (tier) => {
  let open: OpenTier;
  const run = (argv: string[], env: Record<string, string> = {}) =>
    runCommand(open.sandbox, { argv, workspace: open.workspace, env }, { signal: AbortSignal.timeout(60_000) });
  beforeAll(async () => {
    open = await openTier(tier);
  });
  afterAll(() => open.close());

  test("Python: threads, processes, fork, asyncio, files with modes and times, temporary files", async () => {
    const { stderr, exitCode } = await run(["python3", "-c", python]);
    expect({ stderr, exitCode }).toEqual({ stderr: expect.stringContaining("Ran 5 tests"), exitCode: 0 });
  });

  test.if(named("node"))("Node: workers, children with pipes, files", async () => {
    expect(await run(["node", "-e", node])).toMatchObject({ stdout: "42 echoed Linux\n", stderr: "", exitCode: 0 });
  });

  // Bun itself needs /proc, which Landlock hides.
  test.if(tier !== "landlock" && named("bun"))("Bun: a script with a child", async () => {
    const text = 'console.log(await new Response(Bun.spawn(["echo", "hi"]).stdout).text())';
    expect(await run(["bun", "-e", text])).toMatchObject({ stdout: "hi\n\n", exitCode: 0 });
  });

  test.if(named("git"))("git: a repository, its settings, a commit, a clone", async () => {
    expect(await run(["sh", "-c", git])).toMatchObject({ stdout: "one\n", stderr: "", exitCode: 0 });
  });

  test.if(named("gcc"))("programs are compiled, made executable, packed and unpacked", async () => {
    const stdout = "made\nrun\n978307200\nrun\nrun\n";
    expect(await run(["sh", "-c", compile], { TZ: "UTC" })).toMatchObject({ stdout, stderr: "", exitCode: 0 });
  });

  test.if(named("npm"))("npm: a package is packed, and installed with a program that runs", async () => {
    expect(await run(["sh", "-c", npm])).toMatchObject({ stdout: "made-1.0.0.tgz\ninstalled\n", exitCode: 0 });
  });

  test.if(tier !== "landlock" && chromium?.startsWith("/usr/") === true)("Chromium draws a page", async () => {
    const page = "data:text/html,<title>x</title><script>document.title = 6 * 7</script>";
    const argv = [chromium ?? "", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page];
    expect((await run(argv)).stdout).toContain("<title>42</title>");
  });

  test.if(tier !== "landlock")("shared memory and sockets between programs of one sandbox", async () => {
    const text = `
import multiprocessing, socket
from multiprocessing import shared_memory
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))
    memory = shared_memory.SharedMemory(create=True, size=8); memory.unlink()
    server = socket.create_server(("127.0.0.1", 0)); client = socket.create_connection(server.getsockname())
    server.accept()[0].sendall(b"over"); print(client.recv(9)); print(len(socket.if_nameindex()) > 0)
`;
    expect(await run(["python3", "-c", text])).toMatchObject({ stdout: "[1, 2]\nb'over'\nTrue\n", exitCode: 0 });
  });
});
