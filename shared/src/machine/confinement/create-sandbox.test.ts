import { afterEach, expect, spyOn, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { availableTiers, eventually, openTier } from "../../testing/sandbox/tiers.ts";
import { findPython } from "../../tools/python/find-python.ts";
import { landlockAbi } from "../kernel/landlock.ts";
import * as controlGroups from "../memory/control-group.ts";
import { stepDownArgv, unprivilegedUser } from "../process/step-down.ts";
import { runCommand } from "../sandbox/run-command.ts";
import type { Confinement } from "./confinement.ts";
import { createSandbox } from "./create-sandbox.ts";
import { createUnconfined } from "./off.ts";
import { probe } from "./probe.ts";

const path = process.env.PATH ?? "";
const tiers = await availableTiers();
const signal = AbortSignal.timeout(600_000);

afterEach(() => {
  process.env.PATH = path;
});

test("every tier whose parts work on this machine is accepted, so that none is left out of the tests unnoticed", async () => {
  const plain = ["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"];
  const spaces = await Bun.spawn([...stepDownArgv(unprivilegedUser()), ...plain], { stderr: "ignore" }).exited;
  const expected = [
    ...(spaces === 0 && Bun.which("socat") && Bun.which("rg") ? ["srt" as const] : []),
    ...(spaces === 0 ? ["bwrap" as const] : []),
    ...(landlockAbi() >= 6 ? ["landlock" as const] : []),
  ];
  expect(tiers).toEqual(expect.arrayContaining(expected));
});

test("auto takes the strongest tier of the machine and never runs unconfined unless asked", async () => {
  const { sandbox, close } = await openTier("auto");
  expect(sandbox.tier).toBe(tiers.find((tier) => tier !== "srt") ?? "none");
  expect(sandbox.description).toContain("srt: not needed, as no domain is allowed");
  await close();
});

test("without bwrap on the PATH the next tier is used, and the reason reported", async () => {
  const empty = await mkdtemp(join(tmpdir(), "manyhands-path-"));
  for (const name of ["setpriv", "prlimit", "chown"]) {
    await Bun.spawn(["ln", "-s", Bun.which(name) ?? "", join(empty, name)]).exited;
  }
  process.env.PATH = empty;
  const { sandbox, close } = await openTier("auto", { network: { allow: ["example.com"] } });
  expect(sandbox.tier).toBe(tiers.includes("landlock") ? "landlock" : "none");
  expect(sandbox.description).toContain("srt: bwrap is not installed | bwrap: bwrap is not installed");
  await close();
  await rm(empty, { recursive: true });
});

test("without any means of confinement there is no sandbox, no command and no Python", async () => {
  process.env.PATH = "/nonexistent";
  const { sandbox, workspace, close } = await openTier("bwrap");
  expect(sandbox.tier).toBe("none");
  expect(sandbox.description).toBe("none: commands are switched off | bwrap: bwrap is not installed");
  const refusal = await sandbox.spawn({ argv: ["true"], workspace }).catch((error) => error);
  expect(refusal.code).toBe("sandbox_unavailable");
  expect(await findPython(sandbox)).toBeUndefined();
  await close();
});

test("where this process may open few files, commands may open no more, and are confined as ever", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-few-"));
  await chmod(folder, 0o755);
  const script = `const { createSandbox } = await import(${JSON.stringify(import.meta.resolve("./create-sandbox.ts"))});
    const sandbox = await createSandbox({ mode: "auto", folder: ${JSON.stringify(folder)} });
    console.log(sandbox.tier, sandbox.description);
    await sandbox.close();`;
  const argv = ["/bin/sh", "-c", 'ulimit -n 64 && exec "$@"', "sh", process.execPath, "-e", script];
  const child = Bun.spawn(argv, { stdout: "pipe", stderr: "inherit" });
  const expected = tiers.find((tier) => tier !== "srt") ?? "none";
  expect(await new Response(child.stdout).text()).toStartWith(`${expected} ${expected}: `);
  await rm(folder, { recursive: true });
});

test.if(tiers.includes("landlock"))(
  "where the launcher itself may open too few files, by one or by many, that is no lack of the kernel's",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "manyhands-short-"));
    await chmod(folder, 0o755);
    const script = `const { createSandbox } = await import(${JSON.stringify(import.meta.resolve("./create-sandbox.ts"))});
      const tried = createSandbox({ mode: "landlock", folder: ${JSON.stringify(folder)} });
      console.log(await tried.then(({ description }) => description, ({ code, message }) => code + " " + message));`;
    const tryWith = async (files: number) => {
      const limit = ["/bin/sh", "-c", `ulimit -n ${files} && exec "$@"`, "sh"];
      const child = Bun.spawn([...limit, process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
      return await new Response(child.stdout).text();
    };
    // How many suffice depends on the folders that a machine has.
    let [tooFew, enough] = [24, 64];
    const refusals = [await tryWith(tooFew)];
    expect(await tryWith(enough)).toStartWith("landlock: ");
    while (enough - tooFew > 1) {
      const files = Math.floor((tooFew + enough) / 2);
      const said = await tryWith(files);
      if (said.startsWith("landlock: ")) enough = files;
      else {
        tooFew = files;
        refusals.push(said);
      }
    }
    for (const said of refusals) expect(said).toMatch(/^unavailable .*\(landlock: .*EMFILE.*Allow this server more/);
    await rm(folder, { recursive: true });
  },
);

test.if(tiers.includes("bwrap")).each([
  ["EMFILE: too many open files, socketpair", "EMFILE"],
  ["EAGAIN: resource temporarily unavailable, posix_spawn", "EAGAIN"],
])(
  "a tier that could not be tried out for want of something (%s) says nothing of the machine",
  async (message, code) => {
    using _ = spyOn(Bun, "spawn").mockImplementation(() => {
      throw Object.assign(new Error(message), { code });
    });
    const folder = await mkdtemp(join(tmpdir(), "manyhands-short-"));
    const failure = {
      code: "unavailable",
      message: expect.stringContaining(`(bwrap: ${message}). Allow this server more`),
    };
    await expect(createSandbox({ mode: "auto", folder })).rejects.toMatchObject(failure);
    await rm(folder, { recursive: true });
  },
);

test.if(tiers.includes("bwrap"))("a sandbox that could not be tried out leaves nothing of its trials", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-short-"));
  await chmod(folder, 0o755);
  using _ = spyOn(controlGroups, "openControlGroups").mockRejectedValue(new Error("EMFILE: too many open files"));
  await expect(createSandbox({ mode: "auto", folder })).rejects.toMatchObject({ code: "unavailable" });
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});

test("a confinement that does not confine is rejected", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-open-"));
  await chmod(home, 0o755);
  const open = createUnconfined();
  /** The same, with a script that a shell runs before the command. */
  const after = (script: string): Confinement => ({
    ...open,
    async wrap(command) {
      return open.wrap({ ...command, argv: ["/bin/sh", "-c", `${script}; exec "$@"`, "sh", ...command.argv] });
    },
  });
  await expect(probe(open, home)).rejects.toThrow("a forbidden file could be read");
  await expect(probe(after("SECRET=/dev/null"), home)).rejects.toThrow("a forbidden file could be written");
  await expect(probe(after("SECRET=/dev/null OUTSIDE=/dev/null; cd /"), home)).rejects.toThrow(
    "the workspace could not be written",
  );
  await expect(probe(after("exit 3"), home)).rejects.toThrow("exit code 3");
  if (open.user) {
    const asRoot: Confinement = {
      ...open,
      wrap: async (command) => ({ ...(await open.wrap(command)), argv: command.argv, env: command.env }),
    };
    await expect(probe(asRoot, home)).rejects.toThrow("a command ran as root");
  }
  await rm(home, { recursive: true });
});

test.if(tiers.includes("bwrap"))("a bwrap that shows more than requested is rejected", async () => {
  const fake = await mkdtemp(join(tmpdir(), "manyhands-fake-"));
  const more = `--bind ${fake} ${fake}`;
  await Bun.write(join(fake, "bwrap"), `#!/bin/bash\nexec ${Bun.which("bwrap")} "\${@:1:4}" ${more} "\${@:5}"\n`);
  await Bun.spawn(["chmod", "-R", "755", fake]).exited;
  process.env.PATH = `${fake}:${path}`;
  const { sandbox, close } = await openTier("bwrap");
  expect(sandbox.tier).toBe("none");
  expect(sandbox.description).toContain(`the view is not as it was ordered: ${fake} shows`);
  await close();
  await rm(fake, { recursive: true });
});

test("off runs commands unconfined, as nobody if the server is root, and says so", async () => {
  const { sandbox, workspace, close } = await openTier("off");
  expect(sandbox.description).toStartWith("off: commands are NOT confined");
  const { stdout } = await runCommand(sandbox, { argv: ["id", "-u"], workspace }, { signal });
  expect(stdout.trim()).not.toBe("0");
  await close();
});

/** Prints the response of an address, including the body of an error. */
const fetching = `
import sys, urllib.error, urllib.request
try: print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode(), end="")
except urllib.error.HTTPError as error: print(error.read().decode(), end="")
except OSError: pass
`;

test.if(tiers.includes("srt"))("the allow-list admits what it names and no loopback behind a name", async () => {
  const serve = (answer: string) => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(answer) });
  const [allowed, named] = [serve("allowed"), serve("named")];
  const allow = [`127.0.0.1:${allowed.port}`, "localhost", hostname()];
  const { sandbox, workspace, close } = await openTier("auto", { network: { allow } });
  expect(sandbox.tier).toBe("srt");
  const fetchInside = async (url: string, env: Record<string, string> = {}) => {
    const argv = ["python3", "-c", fetching, url];
    return (await runCommand(sandbox, { argv, workspace, env }, { signal })).stdout;
  };
  // Programs bypass a proxy for addresses of this machine, unless configured otherwise.
  const throughProxy = { NO_PROXY: "", no_proxy: "" };
  expect(await fetchInside(`http://127.0.0.1:${allowed.port}/`, throughProxy)).toBe("allowed");
  expect(await fetchInside(`http://localhost:${named.port}/`, throughProxy)).toContain("blocked");
  expect(await fetchInside(`http://${hostname()}:${named.port}/`, throughProxy)).toContain("resolved");
  expect(await fetchInside(`http://127.0.0.1:${named.port}/`, throughProxy)).toContain("blocked");
  expect(await fetchInside("http://example.com/")).toContain("blocked");
  expect(await fetchInside(`http://127.0.0.1:${allowed.port}/`)).toBe("");
  await close();
  await Promise.all([allowed.stop(true), named.stop(true)]);
});

test("a home that cannot be written when the server starts does not disable commands permanently", async () => {
  const base = await mkdtemp(join(tmpdir(), "manyhands-full-"));
  const home = join(base, "home");
  await Bun.write(home, "in the way");
  const sandbox = await createSandbox({ mode: "auto", folder: join(home, "workspaces") });
  expect(sandbox.tier).toBe(tiers.find((tier) => tier !== "srt") ?? "none");
  expect(sandbox.description).toContain(`as ${home}/workspaces cannot be written now (ENOTDIR)`);
  await rm(home);
  await Bun.spawn(["mkdir", "-p", "-m", "777", join(home, "workspaces", "one")]).exited;
  await Bun.spawn(["chmod", "755", base, home]).exited;
  const argv = ["sh", "-c", "echo x >made"];
  const workspace = join(home, "workspaces", "one");
  if (sandbox.user) await Bun.spawn(["chown", String(sandbox.user.uid), workspace]).exited;
  if (sandbox.tier !== "none") {
    expect(await runCommand(sandbox, { argv, workspace }, { signal })).toMatchObject({ exitCode: 0 });
    expect(await Bun.file(join(workspace, "made")).text()).toBe("x\n");
  }
  await sandbox.close();
  await rm(base, { recursive: true });
});

test("a folder that does not exist is created, and nothing of the trial is left in it", async () => {
  const base = await mkdtemp(join(tmpdir(), "manyhands-new-"));
  await chmod(base, 0o755);
  const folder = join(base, "deep", "workspaces");
  const sandbox = await createSandbox({ mode: "bwrap", folder });
  expect(sandbox.tier).toBe(tiers.includes("bwrap") ? "bwrap" : "none");
  expect(await readdir(folder)).toEqual([]);
  await sandbox.close();
  await rm(base, { recursive: true });
});

test.each([...tiers, "off" as const])(
  "temporary files of a command stay while it runs, whatever ends beside it, and are removed with the last (%s)",
  async (tier) => {
    const { sandbox, workspace, close } = await openTier(tier);
    const run = (script: string) => runCommand(sandbox, { argv: ["bash", "-c", script], workspace }, { signal });
    try {
      const waits = 'until [ -e over ]; do sleep 0.05; done; cat "$TMPDIR/it"';
      const longer = run(`echo kept >"$TMPDIR/it"; touch begun; ${waits}`);
      await eventually("the command has begun", () => Bun.file(join(workspace, "begun")).exists());
      expect((await run("true")).exitCode).toBe(0);
      await writeFile(join(workspace, "over"), "");
      expect((await longer).stdout).toBe("kept\n");
      expect(await readdir(workspace)).not.toContain(".tmp");
    } finally {
      await close();
    }
  },
);

test.if(tiers.includes("bwrap"))(
  "every command finds the Python of the settings first and may read it, also one that set-up makes later",
  async () => {
    const base = await mkdtemp(join(tmpdir(), "manyhands-venv-"));
    await chmod(base, 0o755);
    const python = join(base, "venv");
    const { sandbox, workspace, close } = await openTier("bwrap", { python });
    const script = `cat ${python}/marker; echo "[$VIRTUAL_ENV]"; tool; echo "$PATH"`;
    const run = async () => (await runCommand(sandbox, { argv: ["sh", "-c", script], workspace }, { signal })).stdout;
    try {
      expect(await run()).toBe("[]\n/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin\n");
      await mkdir(join(python, "bin"), { recursive: true });
      await writeFile(join(python, "marker"), "seen ");
      await writeFile(join(python, "bin", "tool"), "#!/bin/sh\necho its own\n", { mode: 0o755 });
      expect(await run()).toStartWith(`seen [${python}]\nits own\n${python}/bin:/usr/local/bin:`);
    } finally {
      await close();
      await rm(base, { recursive: true });
    }
  },
);
