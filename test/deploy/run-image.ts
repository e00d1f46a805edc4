/**
 * Builds the image's root file system by the steps of our Dockerfile, starts it as a hardened
 * container would run (uid 10001, no capability, no new privileges, our seccomp profile, read-only
 * root, one volume, parts of /proc masked) and gives it a task over HTTP. It takes root, bwrap and
 * debootstrap, and minutes: `bun test/deploy/run-image.ts [FOLDER]`, where FOLDER is a bare Debian
 * that an earlier run of debootstrap made.
 */
import { chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { filterProgram } from "manyhands/internal/machine/kernel/filter-program";
import { knownProcessor, systemCalls } from "manyhands/internal/machine/kernel/syscall-numbers";
import { coveredProc } from "../../shared/src/testing/sandbox/covered-proc.ts";
import { buildRoot, root as checkout, type Image, ourInstructions } from "./build-root.ts";

const say = (line: string) => void process.stderr.write(`${line}\n`);
const missing = ["debootstrap", "bwrap"].filter((program) => Bun.which(program) === null);
if (process.getuid?.() !== 0) missing.push("root");
const [made] = process.argv.slice(2);
if (missing.some((one) => one !== "debootstrap" || made === undefined)) {
  say(`Skipped: the image is tried only where there is ${missing.join(" and ")}.`);
  process.exit(0);
}

const folder = await mkdtemp(join(tmpdir(), "manyhands-image-"));
const filterFile = join(folder, "filter");
let exitCode = 1;
try {
  const root = join(folder, "root");
  await makeDebian(root);
  const image = await buildRoot(root, say);
  await tryOut(root, image);
  exitCode = 0;
} catch (error) {
  say(String(error));
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.stdout.write(exitCode === 0 ? "1 passed, 0 failed\n" : "0 passed, 1 failed\n");
process.exit(exitCode);

async function makeDebian(root: string): Promise<void> {
  if (made !== undefined) return copyAll(made, root);
  const from = (await ourInstructions()).findLast(({ name }) => name === "FROM")?.text ?? "";
  const suite = /^debian:(\w+)-slim$/.exec(from)?.[1];
  if (suite === undefined) throw new Error(`The image is made from ${from}, which is not debian:SUITE-slim`);
  say(`debootstrap ${suite}`);
  const child = Bun.spawn(["debootstrap", "--variant=minbase", suite, root], { stdin: "ignore", stdout: "ignore" });
  if ((await child.exited) !== 0) throw new Error("debootstrap failed");
}

/** Device files too, which `fs.cp` cannot copy. */
async function copyAll(from: string, to: string): Promise<void> {
  if ((await Bun.spawn(["cp", "-a", from, to]).exited) !== 0) throw new Error(`${from} could not be copied`);
}

/** The argv of a command in a container of the image. */
function inContainer(
  root: string,
  image: Image,
  state: string,
  env: Readonly<Record<string, string>>,
  options: readonly string[] = [],
): string[] {
  const [uid = "", gid = uid] = image.user.split(":");
  return [
    ...[
      "bwrap",
      ...options,
      "--as-pid-1",
      "--ro-bind",
      root,
      "/",
      "--proc",
      "/proc",
      ...coveredProc,
      "--dev",
      "/dev",
      "--tmpfs",
      "/tmp",
    ],
    ...["--chmod", "1777", "/tmp", "--bind", state, image.volume, "--ro-bind", "/etc/resolv.conf", "/etc/resolv.conf"],
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--hostname", "manyhands", "--chdir", image.cwd],
    ...["--cap-add", "ALL", "--die-with-parent", "--clearenv"],
    ...Object.entries({ ...image.env, ...env }).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["setpriv", "--reuid", uid, "--regid", gid, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"],
    ...["--no-new-privs", "--"],
  ];
}

/** Our seccomp profile as a program, as far as we know its calls by number. */
async function writeFilter(): Promise<void> {
  const processor = knownProcessor(process.arch);
  if (processor === undefined) throw new Error(`The seccomp profile cannot be tried on ${process.arch}`);
  const { syscalls } = await Bun.file(join(checkout, "deploy/seccomp.json")).json();
  const names: readonly string[] = syscalls[0].names;
  const refusals = systemCalls.filter((call) => names.includes(call)).map((call) => ({ call, errno: 1 }));
  await Bun.write(filterFile, filterProgram(processor, refusals));
}

async function tryOut(root: string, image: Image): Promise<void> {
  await writeFilter();
  const state = join(folder, "state");
  await mkdir(state);
  const [uid = 0, gid = uid] = image.user.split(":").map(Number);
  await chown(state, uid, gid);
  const names = ["MANUS_PORT", "BROWSER_PORT", "SWE_PORT", "DATA_ANALYSIS_PORT", "GATEWAY_PORT"];
  const ports = Object.fromEntries(names.map((name) => [name, String(freePort())]));
  const token = crypto.randomUUID();
  const env = { ...ports, MANYHANDS_TOKEN: token };
  const open = await ended([...inContainer(root, image, state, ports), ...image.command]);
  check("a start without a token is refused", open.exitCode === 2 && open.said.includes("no token is set"), open.said);
  const info = join(folder, "info.json");
  const server = Bun.spawn([...inContainer(root, image, state, env, ["--info-fd", "3"]), ...image.command], {
    stdio: ["ignore", "inherit", "inherit", Bun.file(info)],
  });
  try {
    const url = `http://127.0.0.1:${ports.GATEWAY_PORT}`;
    await until(async () => (await fetch(`${url}/readyz`)).ok, server);
    const healthy = await ended([...inContainer(root, image, state, env), ...image.health]);
    check("the health check passes", healthy.exitCode === 0, healthy.said);
    const health = await (await fetch(`http://127.0.0.1:${ports.MANUS_PORT}/healthz`)).text();
    check("bubblewrap confines commands", health.includes('"sandbox":"bwrap","sandboxProfile":"no-proc"'), health);
    say(health);
    const response = await fetch(`${url}/flows/planning`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", Prefer: "wait=170" },
      body: JSON.stringify({ input: "How many primes are below 1000?" }),
    });
    const answer = await response.text();
    check("a task is carried out", answer.includes("There are 168 primes below 1000."), answer);
  } finally {
    process.kill((await Bun.file(info).json())["child-pid"], "SIGTERM");
    const code = await server.exited;
    check("SIGTERM drains it", code === 0, `exit code ${code}`);
  }
}

function check(what: string, isSo: boolean, seen: string): void {
  if (!isSo) throw new Error(`Not so: ${what}\n${seen.slice(-3000)}`);
  say(`✓ ${what}`);
}

async function ended(argv: readonly string[]): Promise<{ exitCode: number; said: string }> {
  const child = Bun.spawn([...argv], { stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: 60_000 });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, said: `${out}${err}` };
}

async function until(isSo: () => Promise<boolean>, { exited }: Bun.Subprocess): Promise<void> {
  let over = false;
  void exited.then(() => (over = true));
  for (const deadline = Date.now() + 170_000; !(await isSo().catch(() => false)); await Bun.sleep(100))
    if (over || Date.now() > deadline) throw new Error("The image did not become ready");
}
