import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { withinTrace } from "../../core/trace.ts";
import { availableTiers, eventually, type OpenTier, openTier, processesNamed } from "../../testing/sandbox/tiers.ts";
import { runCommand } from "../sandbox/run-command.ts";

const tiers = await availableTiers();
const signal = AbortSignal.timeout(600_000);
const canary = `canary-${crypto.randomUUID()}`;

test("this machine has a tier to be tested", () => {
  expect(tiers).not.toBeEmpty();
});

describe.each(tiers)("tier %s", (tier) => {
  let open: OpenTier;
  let hidden: string;
  const run = (script: string, workspace = open.workspace) =>
    runCommand(open.sandbox, { argv: ["bash", "-c", script], workspace, limits: { wallMs: 5000 } }, { signal });
  const everythingOf = async (script: string) => {
    const { stdout, stderr } = await run(script);
    return stdout + stderr;
  };

  beforeAll(async () => {
    process.env.MANYHANDS_TEST_KEY = canary;
    hidden = await mkdtemp(join(homedir(), ".manyhands-test-"));
    await writeFile(join(hidden, "id_ed25519"), canary);
    open = await openTier(tier);
    await writeFile(join(open.neighbour, "secret"), canary, { mode: 0o644 });
  });
  afterAll(async () => {
    delete process.env.MANYHANDS_TEST_KEY;
    await rm(hidden, { recursive: true });
    await open.close();
  });

  test("commands never run as root and have no capabilities", async () => {
    // Not from /proc, which a view may lack: PR_GET_NO_NEW_PRIVS, and the 64 bits of three sets.
    const script = `
import ctypes, os
libc = ctypes.CDLL(None)
sets = (ctypes.c_uint32 * 6)()
asked = libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), sets)
print(os.geteuid() == 0, libc.prctl(39, 0, 0, 0, 0), asked, *sets)
`;
    expect((await run(`python3 -c '${script}'`)).stdout).toBe("False 1 0 0 0 0 0 0 0\n");
  });

  test("the environment is built from scratch, and no visible process has anything of the server's", async () => {
    expect(await everythingOf("env; cat /proc/*/environ; true")).not.toContain(canary);
    const { stdout } = await run("echo $HOME; pwd; echo $PATH");
    expect(stdout).toStartWith(`${open.workspace}\n${open.workspace}\n/usr/local/bin:`);
  });

  test("a command is told the trace it is part of, as OpenTelemetry does, and nothing outside one", async () => {
    const trace = { traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01`, tracestate: "a=b" };
    const asked = "env | grep ^TRACE | sort";
    const { stdout } = await withinTrace(trace, () => run(asked));
    expect(stdout).toBe(`TRACEPARENT=${trace.traceparent}\nTRACESTATE=a=b\n`);
    expect((await run(asked)).stdout).toBe("");
  });

  test("files of the host, of root and of other conversations cannot be read", async () => {
    const paths = [join(hidden, "id_ed25519"), join(open.neighbour, "secret"), "../neighbour/secret", "/etc/shadow"];
    for (const path of paths) expect((await run(`cat ${path}`)).exitCode).not.toBe(0);
    const link = "ln -sf ../neighbour/secret link; cat link; ln ../neighbour/secret hard; cat hard";
    expect(await everythingOf(`${paths.map((path) => `cat ${path}`).join("; ")}; ${link}`)).not.toContain(canary);
    expect(
      await everythingOf(`grep -rs ${canary.slice(0, 12)} /etc ${homedir()} ${tmpdir()} /var /run | head -3`),
    ).toBe("");
  });

  test("nothing outside the workspace can be written, not even through symlinks or `..`", async () => {
    await symlink(open.neighbour, join(open.workspace, "away"));
    const before = await readdir(open.neighbour);
    const name = crypto.randomUUID();
    for (const folder of ["away", "../neighbour", "..", "/tmp", "/etc", "/usr", homedir(), ""]) {
      await run(`echo x > ${folder}/${name}`);
      expect([folder, await Bun.file(resolve(open.workspace, `${folder}/${name}`)).exists()]).toEqual([folder, false]);
    }
    expect(await readdir(open.neighbour)).toEqual(before);
    expect((await run("echo x > inside && cat inside")).stdout).toBe("x\n");
  });

  test.if(Bun.which("git") !== null)("git works, whatever the machine's own settings for it", async () => {
    const { stdout, stderr, exitCode } = await run(
      "mkdir repository && cd repository && git init -q -b main && echo a > a && git add a && git -c user.name=a -c user.email=a commit -qm a && git log --format=%s",
    );
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: "a\n", stderr: "", exitCode: 0 });
  });

  test("a FIFO outside is refused and does not hang", async () => {
    await Bun.spawn(["mkfifo", "-m", "666", join(open.neighbour, "fifo")]).exited;
    const { exitCode, limit } = await run("cat ../neighbour/fifo");
    expect([exitCode, limit]).toEqual([1, undefined]);
  });

  test("outside processes can neither be seen nor signalled", async () => {
    expect((await run(`kill -0 ${process.pid}`)).exitCode).not.toBe(0);
    const { user } = open.sandbox;
    const stepDown = user ? ["setpriv", `--reuid=${user.uid}`, "--clear-groups"] : [];
    const bystander = Bun.spawn([...stepDown, "sleep", "20"]);
    await run("kill -9 -1");
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    bystander.kill();
    expect(await bystander.exited).toBe(143);
    expect(await everythingOf("cat /proc/*/cmdline | tr '\\0' ' '")).not.toContain("bun test");
  });

  test("no further user namespace can be created", async () => {
    if (tier !== "landlock") expect((await run("unshare --user true")).exitCode).not.toBe(0);
    expect((await run("unshare --mount true")).exitCode).not.toBe(0);
  });

  test("nothing outside can be reached: TCP, UDP, DNS, metadata address, socket files", async () => {
    const reached: string[] = [];
    const answer = () => {
      reached.push("tcp");
      return new Response("in");
    };
    const web = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
    const udp = await Bun.udpSocket({ hostname: "127.0.0.1", socket: { data: () => void reached.push("udp") } });
    const path = join(open.neighbour, "host.sock");
    const unix = Bun.listen({ unix: path, socket: { data() {}, open: () => void reached.push("unix") } });
    const script = `
import socket
def attempt(name, act):
    try: act(); print(name, "REACHED")
    except OSError as error: print(name, "refused")
def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(1); s.connect(address)
attempt("tcp", lambda: connect(socket.AF_INET, ("127.0.0.1", ${web.port})))
attempt("metadata", lambda: connect(socket.AF_INET, ("169.254.169.254", 80)))
attempt("unix", lambda: connect(socket.AF_UNIX, "${path}"))
attempt("docker", lambda: connect(socket.AF_UNIX, "/var/run/docker.sock"))
attempt("dns", lambda: socket.getaddrinfo("example.com", 80))
try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", ${udp.port}))
except OSError: pass
`;
    const { stdout } = await run(`python3 -c '${script}'; exec 3<>/dev/tcp/127.0.0.1/${web.port} && echo bash REACHED`);
    web.stop(true);
    udp.close();
    unix.stop(true);
    expect(stdout).toBe("tcp refused\nmetadata refused\nunix refused\ndocker refused\ndns refused\n");
    expect(reached).toEqual([]);
  });

  test("variables and files of a command do not affect our own processes around it", async () => {
    const folder = await open.folder("home");
    const marker = join(open.neighbour, `ran-${crypto.randomUUID()}`);
    await writeFile(join(folder, "bunfig.toml"), 'preload = ["./evil.ts"]');
    await writeFile(join(folder, "evil.ts"), `require("node:fs").writeFileSync(${JSON.stringify(marker)}, "");`);
    const env = { BUN_OPTIONS: `--preload=${folder}/evil.ts`, EMPTY: "", SPACED: " a\nb=c " };
    const argv = ["sh", "-c", 'printf "%s|" "$BUN_OPTIONS" "$(env | grep -c ^EMPTY=)" "$SPACED" "$HOME" "$PWD"'];
    const { stdout } = await runCommand(open.sandbox, { argv, workspace: folder, env }, { signal });
    expect(stdout).toBe(`${env.BUN_OPTIONS}|1| a\nb=c |${folder}|${folder}|`);
    expect(await Bun.file(marker).exists()).toBe(false);
    expect((await readdir(folder)).sort()).toEqual(["bunfig.toml", "evil.ts"]);
  });

  test("a working folder with spaces, quotes and a newline in its name is one folder", async () => {
    const odd = await open.folder("a 'b' \"$c\"\nd");
    const { stdout } = await run("echo x > made; pwd", odd);
    expect(stdout).toBe(`${odd}\n`);
    expect(await readdir(odd)).toEqual(["made"]);
  });

  test("a command sees neither this machine's name, its settings, its logs nor its users", async () => {
    const hidden = [
      "/etc/hostname",
      "/etc/hosts",
      "/etc/machine-id",
      "/etc/resolv.conf",
      "/etc/shadow",
      "/etc/sudoers",
    ];
    const folders = ["/etc/ssh", "/etc/apt", homedir(), "/home", "/var/log", "/run", "/srv", "/opt", "/boot"];
    expect(
      (await run(`cat ${hidden.join(" ")} 2>/dev/null; ls -A ${folders.join(" ")} 2>/dev/null; true`)).stdout,
    ).toBe("");
    if (tier !== "landlock") expect((await run("uname -n")).stdout).toBe("sandbox\n");
  });

  test("a command has a limit of open files and leaves no core dump", async () => {
    expect((await run("ulimit -n; ulimit -Hn; ulimit -c; ulimit -Hc")).stdout).toBe("1024\n1024\n0\n0\n");
  });

  test("a command cannot write what it may only read, can write what it may, and sees both at their own paths", async () => {
    const [readable, writable] = await Promise.all([open.folder("readable"), open.folder("writable")]);
    for (const folder of [readable, writable]) {
      await writeFile(join(folder, "there"), "seen ");
      if (open.sandbox.user) await Bun.spawn(["chown", "-R", String(open.sandbox.user.uid), folder]).exited;
    }
    const script = `cat ${readable}/there ${writable}/there
      for folder in ${readable} ${writable}; do
        echo x > $folder/made; echo x > $folder/there; mv $folder/there $folder/moved; mkdir $folder/folder
      done 2>/dev/null; true`;
    const { stdout } = await runCommand(
      open.sandbox,
      { argv: ["sh", "-c", script], workspace: open.workspace, paths: { read: [readable], write: [writable] } },
      { signal },
    );
    expect(stdout).toBe("seen seen ");
    expect(await readdir(readable)).toEqual(["there"]);
    expect(await Bun.file(join(readable, "there")).text()).toBe("seen ");
    expect((await readdir(writable)).sort()).toEqual(["folder", "made", "moved"]);
  });

  if (tier === "landlock") return;

  test("names that outside programs would run later are read-only, and leave no trace", async () => {
    const folder = await open.folder("guarded");
    await Bun.spawn(["mkdir", "-p", join(folder, ".git", "hooks")]).exited;
    await writeFile(join(folder, ".envrc"), "kept");
    if (open.sandbox.user) await Bun.spawn(["chown", "-R", String(open.sandbox.user.uid), folder]).exited;
    for (const name of [".bashrc", ".mcp.json", ".envrc", ".git/hooks/pre-commit"]) {
      const attempts = [`echo x > ${name}`, `rm ${name}`, `echo x > n && mv n ${name}`, `ln -sf n ${name}`];
      for (const attempt of attempts) expect([attempt, (await run(attempt, folder)).exitCode]).toEqual([attempt, 1]);
    }
    expect((await run("mv .git moved", folder)).exitCode).toBe(1);
    expect((await readdir(folder)).sort()).toEqual([".envrc", ".git", "n"]);
    expect(await readdir(join(folder, ".git", "hooks"))).toEqual([]);
  });

  test("the placeholders of a workspace stay until its last process has ended", async () => {
    const folder = await open.folder("shared");
    const long = await open.sandbox.spawn({ argv: ["sleep", "100"], workspace: folder });
    await run("true", folder);
    expect((await run("echo x > .bashrc", folder)).exitCode).toBe(1);
    expect(await stat(join(folder, ".bashrc"))).toMatchObject({ size: 0 });
    long.kill();
    await long.exited;
    expect(await readdir(folder)).toEqual([]);
  });

  test("a workspace below closed parents works, and they stay closed", async () => {
    const closed = await mkdtemp(join(tmpdir(), "manyhands-closed-"));
    await writeFile(join(closed, "secret"), canary, { mode: 0o644 });
    const other = await openTier("bwrap", { within: closed });
    try {
      expect(other.sandbox.tier).toBe("bwrap");
      const script = `pwd; ls ${closed}; cat ${closed}/secret`;
      const { stdout } = await runCommand(
        other.sandbox,
        { argv: ["bash", "-c", script], workspace: other.workspace },
        { signal },
      );
      expect(stdout).toStartWith(other.workspace);
      expect(stdout).not.toContain("secret");
      expect((await stat(closed)).mode & 0o777).toBe(0o700);
      const mark = `6${Math.floor(Math.random() * 1e9)}`;
      const argv = ["bash", "-c", `setsid -f sleep ${mark}; sleep ${mark}`];
      const limits = { wallMs: 500 };
      await runCommand(other.sandbox, { argv, workspace: other.workspace, limits }, { signal });
      await eventually("what was started there is gone", async () => (await processesNamed(mark)).length === 0);
    } finally {
      await other.close();
      await rm(closed, { recursive: true });
    }
  });

  test("paths a command may see outside its workspace are visible, however closed the folders above them are", async () => {
    const closed = await mkdtemp(join(tmpdir(), "manyhands-closed-"));
    const elsewhere = await mkdtemp(join(tmpdir(), "manyhands-closed-"));
    const [program, file] = [join(closed, "tools", "program"), join(elsewhere, "settings.json")];
    await mkdir(program, { recursive: true });
    await writeFile(join(program, "data"), "seen", { mode: 0o644 });
    await writeFile(file, " too", { mode: 0o644 });
    await writeFile(join(closed, "tools", "secret"), canary, { mode: 0o644 });
    const other = await openTier("bwrap", { within: closed });
    try {
      const script = `cat ${program}/data ${file}; echo own > kept; ls ${closed}/tools ${elsewhere}; touch ${program}/x`;
      const { stdout, exitCode } = await runCommand(
        other.sandbox,
        {
          argv: ["bash", "-c", script],
          workspace: other.workspace,
          paths: { read: [program, file], write: [] },
        },
        { signal },
      );
      expect(stdout).toStartWith("seen too");
      expect(stdout).toContain("program");
      expect(stdout).not.toContain("secret");
      expect(exitCode).not.toBe(0);
      expect(await Bun.file(join(other.workspace, "kept")).text()).toBe("own\n");
      expect(await readdir(program)).toEqual(["data"]);
    } finally {
      await other.close();
      await Promise.all([closed, elsewhere].map((folder) => rm(folder, { recursive: true })));
    }
  });

  test("no folder that a command could fill lacks a size limit", async () => {
    const { stdout } = await run(
      'for folder in / /dev /etc /proc /usr; do mkdir "$folder/made" && echo "$folder"; done',
    );
    expect(stdout).toBe("");
  });

  test("temporary folders have a size limit", async () => {
    const { exitCode, stderr } = await run("head -c 400M /dev/zero > /tmp/x; head -c 100M /dev/zero > /dev/shm/x");
    expect(exitCode).not.toBe(0);
    expect(stderr.match(/No space left/g)).toHaveLength(2);
  });
});
