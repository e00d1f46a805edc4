import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { eventually, processesNamed } from "../../shared/src/testing/sandbox/tiers.ts";
import { type Attack, type Attacked, startAttacked } from "./obedient-model.ts";

/** Appears in the command line of every process that an attack leaves behind. */
const mark = `3${Math.floor(Math.random() * 1e9)}`;
const canary = `canary-${crypto.randomUUID()}`;
/** A part of the canary to search for; our commands never contain the whole. */
const lure = canary.slice(0, 14);
const megabyte = 2 ** 20;
/** The home of the server's user. */
const owner = homedir();

let attacked: Attacked;
let hidden: string;
beforeAll(async () => {
  attacked = await startAttacked({ OPENAI_API_KEY: canary, GITHUB_TOKEN: canary });
  hidden = await mkdtemp(join(owner, ".manyhands-test-"));
  await writeFile(join(hidden, "id_ed25519"), canary);
});
afterAll(async () => {
  await attacked.close();
  await rm(hidden, { recursive: true, force: true });
});

const bash = (command: string, timeout = 5): Attack => ({ name: "bash", args: { command, timeout } });
const python = (code: string, timeout = 5): Attack => ({ name: "python_execute", args: { code, timeout } });
const editor = (args: Record<string, unknown>): Attack => ({ name: "str_replace_editor", args });
const gone = () => eventually("everything is gone", async () => (await processesNamed(mark)).length === 0);

/** The workspace of a conversation, found by a file that only it has. */
async function workspaceOf(contextId: string): Promise<string> {
  const name = crypto.randomUUID();
  await attacked.obey(contextId, [bash(`echo here >${name}`)]);
  const [path = ""] = await Array.fromAsync(new Bun.Glob(`workspaces/**/${name}`).scan(attacked.home));
  return dirname(join(attacked.home, path));
}

test("floods, fork bombs and endless loops stop at their limits; the server keeps its memory and responds", async () => {
  // The first command loads the tools, which is no doing of an attack.
  await attacked.obey("first", [bash("true"), python("print(1)")]);
  const before = await attacked.memory();
  let slowest = 0;
  let most = 0;
  const watching = setInterval(async () => {
    const asked = performance.now();
    await fetch(`${attacked.manus.url}/healthz`);
    slowest = Math.max(slowest, performance.now() - asked);
    most = Math.max(most, await attacked.memory());
  }, 100);
  const results = await attacked.obey("floods", [
    python("x = b'1' * (10 * 2 ** 30); print(len(x))"),
    bash("while :; do :; done", 1),
    bash("yes", 60),
    bash("cat /dev/zero >f; echo ended with $?; rm f", 2),
    bash(`sleep ${mark} & echo started`),
    bash(`setsid -f sleep ${mark}; (env -i setsid sleep ${mark} >/dev/null 2>&1 &); echo started`),
    bash(`trap '' TERM INT HUP; sleep ${mark}; sleep ${mark}`, 1),
    python("import os\nwhile True:\n  try: os.fork()\n  except OSError: pass", 1),
    bash(":(){ :|:& };:", 1),
  ]);
  clearInterval(watching);
  expect(results.map((text) => text.slice(-200))).toEqual([
    expect.stringMatching(/MemoryError|memory 2 GB|exit code 137/),
    expect.stringContaining("wall time 1 s"),
    expect.stringContaining("output 50 MB"),
    // A fast disk reaches the file size limit first: 128 + SIGXFSZ.
    expect.stringMatching(/wall time 2 s|ended with 153/),
    expect.stringContaining("started"),
    expect.stringContaining("started"),
    expect.stringContaining("wall time 1 s"),
    expect.stringContaining("wall time 1 s"),
    expect.stringContaining("exit code"),
  ]);
  expect(most - before).toBeLessThan(200 * megabyte);
  expect(slowest).toBeLessThan(10_000);
});

test("a cancellation ends the command and everything the conversation left running, and keeps its output", async () => {
  const workspace = await workspaceOf("canceled");
  const attack = bash(
    `trap '' TERM INT HUP; setsid -f sleep ${mark}; sleep ${mark} & echo be''gun; sleep ${mark}`,
    100,
  );
  const obeying = attacked.obey("canceled", [attack]);
  await eventually("it runs", async () => (await processesNamed(mark)).length >= 3);
  const id = await runningTask();
  const started = performance.now();
  const canceled = await attacked.client.cancel(id);
  await gone();
  expect(performance.now() - started).toBeLessThan(60_000);
  expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  await obeying;
  const output = join(workspace, ".manyhands/output");
  await eventually("the output is kept", async () => (await readdir(output).catch(() => [])).length > 0);
  const [file = ""] = await readdir(output);
  expect(await readFile(join(output, file), "utf8")).toContain("begun\n");
});

async function runningTask(): Promise<string> {
  const response = await fetch(`${attacked.manus.url}/tasks?status=TASK_STATE_WORKING`, {
    headers: { "A2A-Version": "1.0" },
  });
  const { tasks } = (await response.json()) as { tasks: { id: string }[] };
  return tasks[0]?.id ?? "";
}

test("no secret of the server, its user or another conversation can be read in any way", async () => {
  const neighbour = await workspaceOf("neighbour");
  const { uid, gid } = await stat(neighbour);
  await writeFile(join(neighbour, "secret"), canary, { mode: 0o644 });
  await Bun.spawn(["chown", `${uid}:${gid}`, join(neighbour, "secret")]).exited;
  const { home } = attacked;
  await attacked.obey("thief", [
    bash("env; set; cat /proc/*/environ /proc/1/environ /proc/self/environ; echo $OPENAI_API_KEY $GITHUB_TOKEN"),
    bash(
      `cat ${hidden}/* ~/.ssh/* ${owner}/.ssh/* ${owner}/.bash_history ${neighbour}/secret ${home}/runs.db ../*/secret`,
    ),
    bash(`ln -s ${neighbour}/secret l; cat l; ln ${neighbour}/secret h; cat h; cp -rL ${home} ${hidden} .; cat */*`),
    bash(
      `grep -rsaoE '${lure}[0-9a-f-]*' ${owner} /home /etc ${home} /proc/1 /proc/${attacked.manus.pid} /var /tmp`,
      20,
    ),
    python(`print(open('${neighbour}/secret').read())`),
    python(`import os\nfor d in ('${owner}', '${hidden}', '${home}', '${neighbour}'):\n  print(os.listdir(d))`),
    editor({ command: "view", path: `${neighbour}/secret` }),
    editor({ command: "view", path: join(hidden, "id_ed25519") }),
    editor({ command: "view", path: "l" }),
    editor({ command: "view", path: "/proc/self/environ" }),
  ]);
  const asked = JSON.stringify(attacked.model.requests.map(({ body }) => body));
  expect(asked).toContain(lure);
  expect(asked).not.toContain(canary);
  const found = Bun.spawn(["grep", "-rlaF", canary, home], { stdout: "pipe" });
  expect(await new Response(found.stdout).text()).toBe(`${join(neighbour, "secret")}\n`);
});

test("no service of this machine and no address outside is reached", async () => {
  const ports = [new URL(attacked.manus.url).port, new URL(attacked.model.url).port];
  const addresses = [...ports.map((port) => `("127.0.0.1", ${port})`), '("169.254.169.254", 80)', '("::1", 6379)'];
  const [answer = "", shell = ""] = await attacked.obey("caller", [
    python(`
import socket
def attempt(act):
  try:
    act()
    return "REACHED"
  except OSError:
    return "refused"
def connect(family, address, kind=socket.SOCK_STREAM):
  with socket.socket(family, kind) as s:
    s.settimeout(1)
    s.connect(address)
    s.send(b"x")
for address in [${addresses.join(", ")}]:
  print(attempt(lambda: connect(socket.AF_INET6 if ":" in address[0] else socket.AF_INET, address)))
print(attempt(lambda: connect(socket.AF_INET, ("8.8.8.8", 53), socket.SOCK_DGRAM)))
print(attempt(lambda: socket.getaddrinfo("example.com", 80)))
print(attempt(lambda: connect(socket.AF_UNIX, "/var/run/docker.sock")))
`),
    bash(`exec 3<>/dev/tcp/127.0.0.1/${ports[0]} && echo REACHED`),
  ]);
  expect(answer.match(/refused/g)).toHaveLength(addresses.length + 3);
  expect(answer + shell).not.toContain("REACHED");
});

test("files that outside programs would run or obey later are not written, by shell, Python or editor", async () => {
  const workspace = await workspaceOf("planter");
  const names = [".bashrc", ".mcp.json", "manyhands.toml", ".git/hooks/pre-commit"];
  await attacked.obey("planter", [python("import os; os.makedirs('.git/hooks'); open('manyhands.toml', 'w').close()")]);
  // A session guards the names that exist when it starts.
  await attacked.obey("planter", [{ name: "bash", args: { restart: true } }]);
  const { sandbox } = (await (await fetch(`${attacked.manus.url}/healthz`)).json()) as { sandbox: string };
  const refused = await attacked.obey(
    "planter",
    names.flatMap((name) => {
      const edit = editor({ command: "create", path: name, file_text: "attack" });
      // Landlock does not restrict names inside the workspace.
      if (sandbox === "landlock") return [edit];
      const move = bash(`mkdir -p x; echo attack >x/y; mv -f x/y ${name}`);
      return [edit, bash(`echo attack >${name}`), python(`open('${name}', 'w').write('attack')`), move];
    }),
  );
  expect(refused.filter((text) => /exit code 0|successfully/.test(text))).toEqual([]);
  const planted = Bun.spawn(["grep", "-rls", "attack", ...names, ".git"], { cwd: workspace, stdout: "pipe" });
  expect(await new Response(planted.stdout).text()).toBe("");
  const config = join(attacked.home, "manyhands.toml");
  await attacked.obey("planter", [bash(`echo attack >${config}`), python(`open('${config}', 'w').write('attack')`)]);
  expect(await Bun.file(config).exists()).toBe(false);
});

test("when the server ends, no process of any conversation is left", async () => {
  await attacked.obey("left", [bash(`sleep ${mark} & setsid -f sleep ${mark}; echo started`)]);
  expect(await processesNamed(mark)).not.toBeEmpty();
  await attacked.manus.stop();
  await gone();
});
